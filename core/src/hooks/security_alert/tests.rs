use super::*;
use crate::hooks::event::tests::event;
use crate::hooks::{Event, HookSet};
use serde_json::json;
use std::sync::Mutex;

/// Where, at which addresses, with which headers, and what.
type Posted = (String, Vec<SocketAddr>, Vec<(&'static str, String)>, String);

/// A network that answers with what it is told, and remembers what was posted where.
struct Recorded {
    addresses: Vec<&'static str>,
    status: u16,
    posted: Mutex<Vec<Posted>>,
    /// Holds every alert back until it is opened.
    gate: Option<Arc<tokio::sync::Notify>>,
}

impl Network for Recorded {
    fn resolve<'a>(&'a self, _: &'a str, port: u16) -> BoxFuture<'a, Result<Vec<SocketAddr>, BoxError>> {
        let addresses = self.addresses.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), port)).collect();
        Box::pin(std::future::ready(Ok(addresses)))
    }

    fn post<'a>(&'a self, alert: &'a Alert, checked: &'a [SocketAddr]) -> BoxFuture<'a, Result<u16, BoxError>> {
        Box::pin(async move {
            if let Some(gate) = &self.gate {
                gate.notified().await;
            }
            let posted = (alert.target.url().to_string(), checked.to_vec(), alert.headers.clone(), alert.body.clone());
            self.posted.lock().unwrap().push(posted);
            Ok(self.status)
        })
    }
}

fn network(addresses: &[&'static str]) -> Recorded {
    Recorded { addresses: addresses.to_vec(), status: 200, posted: Mutex::default(), gate: None }
}

fn hook(network: Recorded) -> (SecurityAlertHook, Arc<Recorded>) {
    let network = Arc::new(network);
    let hook = SecurityAlertHook::new("https://alerts.example.com/x?t=1").unwrap();
    (SecurityAlertHook { network: Arc::clone(&network) as Arc<dyn Network>, ..hook }, network)
}

fn blocked() -> RunEvent {
    let guard = Some("InjectionGuard".to_owned());
    event(Event::GuardBlocked { message: "my private words".into(), reason: "an order".into(), guard })
}

#[tokio::test]
async fn an_alert_is_signed_and_holds_no_message() {
    let (hook, network) = hook(network(&["93.184.215.14", "2606:2800:21f::1"]));
    let hook = hook.signing_secret("whsec_c2VjcmV0").unwrap();
    hook.handle(&blocked()).await.unwrap();
    hook.flush().await;
    let posted = network.posted.lock().unwrap();
    let (url, addresses, headers, body) = &posted[0];
    assert_eq!(url, "https://alerts.example.com/x?t=1");
    assert_eq!(addresses.len(), 2, "the connection goes to what was looked at");
    let header = |name: &str| headers.iter().find(|(key, _)| *key == name).map(|(_, value)| value.clone()).unwrap();
    let json: Value = serde_json::from_str(body).unwrap();
    assert_eq!(
        json,
        json!({"alert": "cheliped: attack blocked", "guard": "InjectionGuard", "reason": "an order",
            "at": "2023-11-14T22:13:20.123+00:00"})
    );
    assert!(!body.contains("private"), "{body}");
    assert_eq!(header("webhook-timestamp"), "1700000000");
    assert_eq!(header("content-digest"), format!("sha-256=:{}:", STANDARD.encode(Sha256::digest(body))));
    let mut mac = Hmac::<Sha256>::new_from_slice(b"secret").unwrap();
    mac.update(format!("{}.1700000000.{body}", header("webhook-id")).as_bytes());
    assert_eq!(header("webhook-signature"), format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())));
}

#[tokio::test]
async fn every_alert_has_an_id_of_its_own() {
    let (hook, network) = hook(network(&["93.184.215.14"]));
    for _ in 0..3 {
        hook.handle(&blocked()).await.unwrap();
    }
    hook.flush().await;
    let posted = network.posted.lock().unwrap();
    let ids: std::collections::BTreeSet<&str> = posted
        .iter()
        .flat_map(|(_, _, headers, _)| headers)
        .filter_map(|(name, value)| (*name == "webhook-id").then_some(value.as_str()))
        .collect();
    assert_eq!(ids.len(), 3);
}

#[tokio::test]
async fn nothing_goes_to_a_host_with_an_address_that_is_not_public() {
    for addresses in [&["127.0.0.1"][..], &["93.184.215.14", "10.0.0.1"], &["::ffff:169.254.169.254"], &[]] {
        let (hook, network) = hook(network(addresses));
        hook.handle(&blocked()).await.unwrap();
        hook.flush().await;
        assert_eq!(network.posted.lock().unwrap().len(), 0, "{addresses:?}");
    }
}

#[tokio::test]
async fn no_run_waits_and_what_is_too_much_is_dropped() {
    let gate = Arc::new(tokio::sync::Notify::new());
    let (hook, network) = hook(Recorded { gate: Some(Arc::clone(&gate)), ..network(&["93.184.215.14"]) });
    for _ in 0..UNDER_WAY + 10 {
        hook.handle(&blocked()).await.unwrap();
    }
    let opening = tokio::spawn(async move {
        loop {
            gate.notify_waiters();
            tokio::task::yield_now().await;
        }
    });
    hook.flush().await;
    opening.abort();
    assert_eq!(network.posted.lock().unwrap().len(), UNDER_WAY);
}

#[tokio::test]
async fn other_events_are_told_only_when_asked_for_and_in_the_words_of_a_format() {
    let (hook, network) = hook(network(&["93.184.215.14"]));
    let flagged = event(Event::GuardFlagged { guard: "g".into(), source: "typed".into(), reason: "r".into() });
    hook.handle(&flagged).await.unwrap();
    let hook = hook
        .events(["guard.flagged", "guard.blocked"])
        .format(|event, about, at| json!({"e": event, "g": about["guard"], "t": at}));
    let mut hooks = HookSet::default();
    hook.clone().add_to(&mut hooks);
    assert_eq!(hooks.len(), 2);
    hook.handle(&flagged).await.unwrap();
    hook.flush().await;
    let posted = network.posted.lock().unwrap();
    assert_eq!(posted.len(), 1);
    assert_eq!(posted[0].3, r#"{"e":"guard.flagged","g":"g","t":"2023-11-14T22:13:20.123+00:00"}"#);
}

#[test]
fn addresses_and_secrets_that_cannot_be_used_are_refused() {
    for (url, word) in
        [("http://x.example", "https"), ("nowhere", "scheme"), ("https://", "host"), ("https://10.0.0.1", "private")]
    {
        let said = SecurityAlertHook::new(url).unwrap_err().to_string();
        assert!(said.contains(word), "{url}: {said}");
    }
    let hook = SecurityAlertHook::new("https://x.example/secret-path").unwrap();
    for secret in ["", "whsec_", "whsec_*"] {
        assert!(hook.clone().signing_secret(secret).is_err(), "{secret}");
    }
    let signed = hook.signing_secret("very-secret").unwrap();
    assert!(!format!("{signed:?}").contains("secret"), "{signed:?}");
}

#[test]
fn the_address_may_come_from_the_environment() {
    let variables = std::collections::BTreeMap::from([(VARIABLE.to_owned(), "https://x.example".to_owned())]);
    assert!(SecurityAlertHook::from_env(&variables).unwrap().target.is_some());
    assert!(SecurityAlertHook::from_env(&std::collections::BTreeMap::new()).unwrap().target.is_none());
}
