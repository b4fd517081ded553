use super::*;
use std::collections::HashMap;

struct Fixed(HashMap<&'static str, &'static str>);

impl Variables for Fixed {
    fn get(&self, name: &str) -> Option<String> {
        self.0.get(name).map(|value| (*value).to_owned())
    }
}

fn env(pairs: &[(&'static str, &'static str)]) -> Fixed {
    Fixed(pairs.iter().copied().collect())
}

fn problem(config: &ProviderConfig, variables: &Fixed) -> String {
    let error = config.build(variables).err().expect("must fail");
    assert_eq!(error.code(), "configuration");
    error.to_string()
}

fn detected(pairs: &[(&'static str, &'static str)]) -> (String, String) {
    let variables = env(pairs);
    let provider = ProviderConfig::detect(&variables).build(&variables).unwrap();
    (provider.name().to_owned(), provider.model().to_owned())
}

#[test]
fn the_environment_is_searched_in_order() {
    let order = [
        ("ANTHROPIC_API_KEY", "anthropic", "claude-haiku-4-5-20251001"),
        ("OPENAI_API_KEY", "openai", "gpt-4o-mini"),
        ("GROQ_API_KEY", "groq", "llama-3.1-8b-instant"),
        ("GEMINI_API_KEY", "gemini", "gemini-3.5-flash-lite"),
        ("MISTRAL_API_KEY", "mistral", "mistral-small-latest"),
        ("DEEPSEEK_API_KEY", "deepseek", "deepseek-flash"),
        ("OLLAMA_HOST", "ollama", "qwen2.5:7b"),
        ("OPENROUTER_API_KEY", "openrouter", "openrouter/auto"),
    ];
    for (place, (_, name, model)) in order.iter().enumerate() {
        let set: Vec<_> = order[place..].iter().map(|(variable, ..)| (*variable, "host-or-key")).collect();
        assert_eq!(detected(&set), ((*name).to_owned(), (*model).to_owned()));
    }
    let both = [("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k")];
    assert_eq!(detected(&[both[0], both[1], ("CHELIPED_PROVIDER", "OpenAI")]).0, "openai");
    assert_eq!(detected(&[both[0], both[1], ("CHELIPED_PROVIDER", "openai:gpt-4.1")]).1, "gpt-4.1");
    assert_eq!(detected(&[both[0], ("CHELIPED_MODEL", "claude-opus-4-8")]).1, "claude-opus-4-8");
    assert_eq!(detected(&[("ANTHROPIC_API_KEY", " "), both[1]]).0, "openai");
}

#[test]
fn what_is_missing_is_named() {
    let nothing = env(&[]);
    let guess = problem(&ProviderConfig::detect(&nothing), &nothing);
    for word in ["ANTHROPIC_API_KEY", "OLLAMA_HOST", "CHELIPED_PROVIDER"] {
        assert!(guess.contains(word), "{guess}");
    }
    assert!(problem(&ProviderConfig::named("Mistral"), &nothing).contains("MISTRAL_API_KEY"));
    let unknown = problem(&ProviderConfig::parse("nobody:x"), &nothing);
    assert!(unknown.contains("\"nobody\"") && unknown.contains("anthropic"), "{unknown}");
    // Both problems at once.
    let custom = problem(&ProviderConfig::named("custom"), &nothing);
    assert!(custom.contains("OPENAI_BASE_URL") && custom.contains("CHELIPED_MODEL"), "{custom}");
    assert!(problem(&ProviderConfig::parse(""), &nothing).contains("unknown provider"));
    let local = env(&[("OPENAI_BASE_URL", "http://127.0.0.1:8080"), ("CHELIPED_MODEL", "m")]);
    assert_eq!(ProviderConfig::named("custom").build(&local).unwrap().model(), "m");
    assert_eq!(ProviderConfig::parse("mine:m").base_url("http://h").build(&nothing).unwrap().name(), "mine");
    assert_eq!(ProviderConfig::named("ollama").api(Api::OllamaChat).build(&nothing).unwrap().model(), "qwen2.5:7b");
    assert!(ProviderConfig::named("gemini").api_key("k").api(Api::Chat).build(&nothing).unwrap().is_real());
}

#[test]
fn settings_that_cannot_be_used_are_refused() {
    let nothing = env(&[]);
    let good = || ProviderConfig::named("openai").api_key("sk-secret-1");
    assert!(good().build(&nothing).is_ok());
    for (config, words) in [
        (good().header("X-A", "a\r\nX-B: b"), "X-A"),
        (good().header("bad name", "a"), "bad name"),
        (good().api_key("sk-secret-1\r\nX: y"), "line break"),
        (good().base_url("api.openai.com"), "base_url"),
        (good().base_url("https://me:sk-secret-1@h"), "password"),
        (good().proxy("socks5://me:sk-secret-1@h:1"), "socks5"),
        (good().connect_timeout(Duration::ZERO), "connect_timeout"),
        (good().idle_timeout(Duration::ZERO), "idle_timeout"),
    ] {
        let problem = problem(&config, &nothing);
        assert!(problem.contains(words), "{problem}");
        assert!(!problem.contains("sk-secret-1"), "{problem}");
    }
    let two = good().header("bad name", "a").connect_timeout(Duration::ZERO).build(&nothing).err().unwrap();
    assert_eq!(two.details()["problems"].as_array().unwrap().len(), 2);
}

#[test]
fn nothing_secret_is_printed() {
    let config = ProviderConfig::named("openai")
        .api_key("sk-secret-1")
        .header("x-token", "sk-secret-2")
        .proxy("http://me:sk-secret-3@proxy")
        .base_url("https://host/v1?key=sk-secret-4");
    let shown = format!("{config:?} {config:#?}");
    assert!(!shown.contains("sk-secret"), "{shown}");
    assert!(shown.contains("host"), "{shown}");
}

#[test]
fn times_come_from_code_then_variables_then_defaults() {
    let read = |config: &ProviderConfig, variables: &Fixed| {
        let timeouts = config.timeouts(variables, &mut Vec::new());
        let connect = config.connect(variables, &mut Vec::new());
        (connect.as_secs(), [timeouts.first_byte, timeouts.idle, timeouts.call].map(|limit| limit.map(|l| l.as_secs())))
    };
    let plain = ProviderConfig::named("openai");
    assert_eq!(read(&plain, &env(&[])), (10, [Some(120); 3]));
    let set = env(&[("CHELIPED_HTTP_TIMEOUT", "300"), ("CHELIPED_HTTP_CONNECT_TIMEOUT", "2.5")]);
    assert_eq!(read(&plain, &set), (2, [Some(300); 3]));
    let own = plain.clone().call_timeout(None).idle_timeout(Duration::from_secs(5));
    assert_eq!(read(&own, &set), (2, [Some(300), Some(5), None]));
    for bad in ["0", "-1", "soon", "NaN", "1e999"] {
        let variables = env(&[("CHELIPED_HTTP_TIMEOUT", bad), ("CHELIPED_HTTP_CONNECT_TIMEOUT", bad)]);
        assert_eq!(read(&plain, &variables), (10, [Some(120); 3]), "{bad}");
    }
}

#[test]
fn proxies_come_from_code_or_the_standard_variables() {
    let proxies = |config: &ProviderConfig, target: &str, pairs: &[(&'static str, &'static str)]| {
        let mut problems = Vec::new();
        let found = config.proxies(Some(&Url::parse(target).unwrap()), &env(pairs), &mut problems);
        let text = |url: Option<Url>| url.map(String::from).unwrap_or_default();
        (text(found.http), text(found.https), problems.len())
    };
    let plain = ProviderConfig::named("openai");
    let none = (String::new(), String::new(), 0);
    let set = [("HTTPS_PROXY", "http://a:1"), ("http_proxy", "b:2"), ("NO_PROXY", "h")];
    assert_eq!(proxies(&plain, "https://h", &set), (String::new(), "http://a:1/".into(), 0));
    assert_eq!(proxies(&plain, "http://h", &set), ("http://b:2/".into(), String::new(), 0));
    assert_eq!(proxies(&plain, "http://127.0.0.1:1", &set), none);
    let cgi = [("HTTP_PROXY", "http://a:1"), ("REQUEST_METHOD", "GET")];
    assert_eq!(proxies(&plain, "http://h", &cgi), none);
    assert_eq!(proxies(&plain, "https://h", &[("ALL_PROXY", "socks5://a:1")]).2, 1);
    let own = plain.proxy("http://own:1");
    assert_eq!(proxies(&own, "http://127.0.0.1:1", &set), ("http://own:1/".into(), "http://own:1/".into(), 0));
}
