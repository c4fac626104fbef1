use super::*;

fn expected(has_tail: bool) -> ExpectedReport {
    ExpectedReport {
        call: Nonce("call-nonce".to_owned()),
        record: Nonce("record-nonce".to_owned()),
        has_tail,
    }
}

#[test]
fn read_returns_none_until_the_report_is_complete() {
    for (whole, has_tail, code, stages) in [
        (
            &b" 1 call-nonce\0\0/a\nb\x003\0 1 call-nonce\0"[..],
            false,
            3,
            None,
        ),
        (
            b" 1 .call-nonce\0\0/a\nb\x003\0 1 .call-nonce\0",
            false,
            3,
            None,
        ),
        (
            b"call-nonce\x003\x003\0\0/a\nb\x000\0call-nonce\0",
            true,
            3,
            None,
        ),
        (
            b"call-nonce\x000\x001\x000\0\0/a\nb\x000\0call-nonce\0",
            true,
            0,
            Some([1, 0]),
        ),
        // A script without a tail has set `__ab_s`.
        (
            b"call-nonce\x000\0\0/a\nb\x007\0call-nonce\0",
            false,
            7,
            None,
        ),
        // A script has written a forged report before.
        (
            b"/\0.\x000\0call-nonce\0\0/a\nb\x007\0call-nonce\0",
            false,
            7,
            None,
        ),
    ] {
        let expected = expected(has_tail);
        let report = expected.read_report(whole).unwrap();
        let stages = stages.map(|codes| codes.map(Stage::from).to_vec());
        assert_eq!((report.code, report.stages), (code, stages), "{whole:?}");
        assert_eq!((report.run, &*report.cwd), (ScriptRun::Yes, &b"/a\nb"[..]));
        for end in 0..whole.len() {
            assert_eq!(expected.read_report(&whole[..end]), None, "{end}");
        }
    }
    for (flag, run) in [
        (r"\builtin : drecord-nonce", ScriptRun::NoDirectory),
        (
            r"\builtin : urecord-nonce; \builtin unset",
            ScriptRun::Unread,
        ),
        (r"\builtin : dother-nonce", ScriptRun::Yes),
        ("d", ScriptRun::Yes),
    ] {
        let whole = format!("call-nonce\0{flag}\0/\x000\0call-nonce\0");
        let report = expected(false).read_report(whole.as_bytes()).unwrap();
        assert_eq!(report.run, run, "{flag}");
    }
}

#[test]
fn report_without_the_nonce_of_its_call_is_ignored() {
    for forged in [
        &b"/\0.\x000\0"[..],
        b"dn/\0.\x000\0",
        b"\0\0/\x000\0\0",
        b"nonce\0\0/\x000\0nonce\0",
        b"other-call-nonce\0\0/\x000\0call-nonce-\0",
        b"call-nonce\0",
        b"\0",
    ] {
        assert_eq!(expected(false).read_report(forged), None, "{forged:?}");
    }
}

#[test]
fn nonces_differ() {
    let nonces: std::collections::BTreeSet<_> =
        (0..100).map(|_| Nonce::random().unwrap().0).collect();
    assert_eq!(nonces.len(), 100);
    assert!(nonces.iter().all(|nonce| nonce.len() == 12));
}
