//! Group `remote_code`: running code that is downloaded, or that the script does not contain. Off
//! by default.

pub(super) mod transport;
pub(super) mod unread_shell;
