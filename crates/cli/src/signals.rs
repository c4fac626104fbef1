//! Ctrl-C and its relatives: the first calls the command off, so that its partial result can still be printed; a second
//! SIGINT leaves at once (the supervisor then ends what is left).

use agent_bash::core::Cancel;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that call a command off, with their numbers on every Unix.
const CALLING_OFF: [(SignalKind, u8); 3] = [
    (SignalKind::hangup(), 1),
    (SignalKind::interrupt(), 2),
    (SignalKind::terminate(), 15),
];

/// SIGHUP in a mask of signals.
const HANGUP_BIT: u64 = 1;

/// What the signals have said so far.
#[derive(Debug, Clone)]
pub(crate) struct CalledOff {
    cancel: Cancel,
    /// Number of the first signal; 0 while there was none.
    first: Arc<AtomicU8>,
}

impl CalledOff {
    /// Listens from now on. SIGHUP stays ignored if it was when we were started, which is what `nohup` is about. SIGINT
    /// does not: a script's background command ignores it too, and whoever sends it there means us.
    ///
    /// # Errors
    /// The system has no room for a handler.
    pub(crate) fn listen() -> std::io::Result<Self> {
        let called_off = Self {
            cancel: Cancel::new(),
            first: Arc::default(),
        };
        let stays_ignored = ignored_signals() & HANGUP_BIT;
        for (kind, number) in CALLING_OFF {
            if stays_ignored & (1 << (number - 1)) == 0 {
                tokio::spawn(called_off.clone().wait(signal(kind)?, number));
            }
        }
        Ok(called_off)
    }

    /// Given with the first signal.
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// 128 + n where signal n called the command off: the code a shell would report.
    pub(crate) fn exit_code(&self) -> Option<u8> {
        match self.first.load(Ordering::Acquire) {
            0 => None,
            number => Some(128 + number),
        }
    }

    async fn wait(self, mut signal: Signal, number: u8) {
        while signal.recv().await.is_some() {
            let before =
                self.first
                    .compare_exchange(0, number, Ordering::AcqRel, Ordering::Acquire);
            if before.is_err() && number == 2 {
                std::process::exit(130);
            }
            self.cancel.cancel();
        }
    }
}

/// The mask of signals that this process ignores, bit n - 1 for signal n; none where the system does not say.
fn ignored_signals() -> u64 {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| mask_in(&status))
        .unwrap_or(0)
}

fn mask_in(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_proc() {
        assert_eq!(
            mask_in("Name:\tx\nSigIgn:\t0000000000001003\nSigCgt:\tff\n"),
            Some(0x1003)
        );
        for bad in ["", "SigIgn:", "SigIgn:\tzz"] {
            assert_eq!(mask_in(bad), None);
        }
    }
}
