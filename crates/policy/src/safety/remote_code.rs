//! Group `remote_code`: running code that comes from elsewhere or cannot be read here. Off by
//! default.

pub(super) mod transport;
pub(super) mod unread_shell;
