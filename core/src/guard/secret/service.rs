//! Tokens that say by their first characters whose they are.
//!
//! The formats are those that the services document themselves, so that scanners can know them.

use super::{Secret, is_after_escape, is_word, value};
use aho_corasick::{AhoCorasick, MatchKind};
use std::sync::LazyLock;

/// What a token is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signs {
    /// Digits and the letters a to f.
    Hex,
    /// Letters and digits.
    Letters,
    /// Letters, digits, `_` and `-`.
    Url,
    /// Those and `.`.
    Dotted,
    /// Letters, digits, `+`, `/`, `=`, and `%` of what is written in addresses.
    Base64,
    /// Both alphabets of Base64.
    Dashed,
}

impl Signs {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Letters => byte.is_ascii_alphanumeric(),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'%'),
            Self::Dashed => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-'),
        }
    }
}

/// Where the secret begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// With the first characters.
    Prefix,
    /// Behind them: they name an address or a parameter.
    Behind,
    /// With so many characters at least that stand before them.
    Before(usize, Signs),
}

/// A kind of token: its name, its first characters, and how many of which follow.
struct Service {
    kind: &'static str,
    prefixes: &'static [&'static str],
    signs: Signs,
    least: usize,
    start: Start,
}

const fn service(kind: &'static str, prefixes: &'static [&'static str], signs: Signs, least: usize) -> Service {
    Service { kind, prefixes, signs, least, start: Start::Prefix }
}

const fn started(start: Start, service: Service) -> Service {
    Service { start, ..service }
}

use Signs::{Base64, Dashed, Dotted, Hex, Letters, Url};

/// The kinds. Of two that fit, the one with the longer prefix counts.
const SERVICES: &[Service] = &[
    // Code and builds.
    service("github_token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], Letters, 20),
    service("github_token", &["github_pat_"], Url, 20),
    service(
        "gitlab_token",
        &[
            "glpat-", "glrt-", "glrtr-", "gldt-", "glptt-", "glcbt-", "glsoat-", "glft-", "glimt-", "glagent-",
            "glffct-", "gloas-",
        ],
        Dotted,
        20,
    ),
    service("atlassian_token", &["ATATT3", "ATCTT3", "ATBB"], Base64, 20),
    service("npm_token", &["npm_"], Letters, 30),
    service("pypi_token", &["pypi-"], Url, 32),
    service("rubygems_key", &["rubygems_"], Hex, 32),
    service("crates_token", &["cio"], Letters, 32),
    service("nuget_key", &["oy2"], Letters, 43),
    service("clojars_token", &["CLOJARS_"], Letters, 40),
    service("docker_token", &["dckr_pat_", "dckr_oat_"], Url, 20),
    service("artifactory_key", &["AKCp"], Letters, 60),
    service("artifactory_token", &["cmVmdGtuOj"], Letters, 40),
    service("circleci_token", &["CCIPAT_", "CCIPRJ_"], Url, 30),
    service("buildkite_token", &["bkua_", "bkat_", "bkct_"], Letters, 30),
    service("sonar_token", &["squ_", "sqp_", "sqa_"], Hex, 40),
    service("sourcegraph_token", &["sgp_", "slk_"], Url, 40),
    service("postman_key", &["PMAK-"], Url, 40),
    service("snyk_token", &["snyk_uat.", "snyk_sat."], Dotted, 30),
    // Clouds and hosts.
    service("aws_access_key", &["AKIA", "ASIA", "ABIA", "ACCA"], Letters, 16),
    service("aws_bedrock_key", &["ABSK"], Base64, 80),
    service("google_api_key", &["AIza"], Url, 33),
    service("google_oauth_token", &["ya29."], Dotted, 20),
    service("google_refresh_token", &["1//0"], Url, 40),
    service("google_client_secret", &["GOCSPX-"], Url, 20),
    started(Start::Before(3, Dotted), service("azure_client_secret", &["8Q~", "7Q~"], Dotted, 31)),
    started(Start::Behind, service("azure_signature", &["&sig=", "?sig="], Base64, 32)),
    started(Start::Behind, service("aws_signature", &["X-Amz-Signature=", "X-Goog-Signature="], Hex, 64)),
    service("digitalocean_token", &["dop_v1_", "doo_v1_", "dor_v1_"], Hex, 40),
    service("alibaba_access_key", &["LTAI"], Letters, 16),
    service("tencent_secret_id", &["AKID"], Letters, 32),
    service("heroku_key", &["HRKU-"], Url, 36),
    service("fly_token", &["fm1_", "fm2_", "fo1_"], Base64, 40),
    service("netlify_token", &["nfp_", "nfc_", "nfo_"], Letters, 36),
    service("vercel_token", &["vcp_", "vci_", "vca_", "vcr_"], Letters, 24),
    service("supabase_key", &["sbp_", "sb_secret_"], Url, 24),
    service("planetscale_password", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], Dotted, 32),
    service("neon_key", &["napi_"], Letters, 40),
    service("cloudflare_key", &["v1.0-"], Url, 100),
    service("cloudflare_token", &["cfut_", "cfat_", "cfk_"], Url, 40),
    service("tailscale_key", &["tskey-"], Url, 20),
    service("databricks_token", &["dapi", "dose", "dkea"], Hex, 32),
    service("vault_token", &["hvs.", "hvb.", "hvr."], Url, 20),
    started(Start::Before(14, Letters), service("terraform_token", &[".atlasv1."], Url, 60)),
    service("pulumi_token", &["pul-"], Hex, 40),
    service("doppler_token", &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], Dotted, 40),
    service("onepassword_token", &["ops_eyJ"], Base64, 100),
    service("age_key", &["AGE-SECRET-KEY-1"], Letters, 40),
    // Messages and mail.
    service(
        "slack_token",
        &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxe-", "xoxe.xox", "xoxc-", "xoxd-", "xapp-"],
        Dotted,
        20,
    ),
    started(
        Start::Behind,
        service(
            "slack_webhook",
            &["hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"],
            Base64,
            20,
        ),
    ),
    started(
        Start::Behind,
        service("discord_webhook", &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"], Base64, 60),
    ),
    started(Start::Before(8, Hex), service("telegram_token", &[":AA"], Url, 30)),
    service("sendgrid_key", &["SG."], Dotted, 40),
    service("mailgun_key", &["key-"], Hex, 32),
    started(Start::Before(32, Hex), service("mailchimp_key", &["-us"], Letters, 1)),
    service("brevo_key", &["xkeysib-", "xsmtpsib-"], Url, 60),
    service("twilio_key", &["SK"], Hex, 32),
    service("resend_key", &["re_"], Url, 30),
    // Money and shops.
    service("stripe_key", &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_org_"], Letters, 16),
    service("webhook_secret", &["whsec_"], Base64, 20),
    service("shopify_token", &["shpat_", "shpca_", "shppa_", "shpss_", "shptka_"], Hex, 32),
    service("square_token", &["sq0atp-", "sq0csp-", "sq0idp-"], Url, 22),
    service("paystack_key", &["FLWSECK-", "FLWSECK_TEST-"], Url, 24),
    service("shippo_token", &["shippo_live_", "shippo_test_"], Hex, 40),
    service("easypost_key", &["EZAK", "EZTK"], Letters, 54),
    service("plaid_token", &["access-production-", "access-sandbox-", "access-development-"], Url, 36),
    service("facebook_token", &["EAA"], Letters, 80),
    // Models.
    service("anthropic_key", &["sk-ant-"], Url, 20),
    service("openai_key", &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"], Url, 20),
    service("openrouter_key", &["sk-or-v1-"], Hex, 40),
    service("langfuse_key", &["sk-lf-"], Url, 30),
    service("api_key", &["sk-"], Url, 20),
    service("elevenlabs_key", &["sk_"], Hex, 48),
    service("huggingface_token", &["hf_", "api_org_"], Letters, 30),
    service("groq_key", &["gsk_"], Letters, 30),
    service("xai_key", &["xai-"], Letters, 40),
    service("perplexity_key", &["pplx-"], Letters, 40),
    service("replicate_token", &["r8_"], Letters, 30),
    service("nvidia_key", &["nvapi-"], Url, 40),
    service("fireworks_key", &["fw_"], Letters, 22),
    service("together_key", &["tgp_v1_"], Url, 30),
    service("cerebras_key", &["csk-"], Letters, 40),
    service("langsmith_key", &["lsv2_pt_", "lsv2_sk_"], Url, 32),
    service("pinecone_key", &["pcsk_"], Url, 40),
    service("tavily_key", &["tvly-"], Url, 20),
    service("firecrawl_key", &["fc-"], Hex, 32),
    // What watches, plans and draws.
    service("grafana_token", &["glsa_", "glc_"], Dashed, 30),
    service("grafana_key", &["eyJrIjoi"], Base64, 40),
    service("newrelic_key", &["NRAK-", "NRJS-", "NRRA-", "NRII-", "NRIQ-"], Url, 18),
    service("sentry_token", &["sntrys_", "sntryu_"], Dashed, 40),
    service("dynatrace_token", &["dt0c01.", "dt0s01.", "dt0s16."], Dotted, 60),
    service("elastic_token", &["essu_"], Base64, 40),
    service("linear_key", &["lin_api_", "lin_oauth_"], Letters, 32),
    service("notion_token", &["ntn_", "secret_"], Letters, 40),
    service("figma_token", &["figd_", "figo_", "figor_"], Url, 38),
    service("airtable_token", &["pat"], Dotted, 79),
    service("typeform_token", &["tfp_"], Dotted, 40),
    service("contentful_token", &["CFPAT-"], Url, 40),
    service("mapbox_token", &["sk.eyJ"], Dotted, 60),
    service("prefect_key", &["pnu_", "pnb_"], Letters, 36),
    service("adafruit_key", &["aio_"], Letters, 28),
    service("readme_key", &["rdme_"], Letters, 60),
];

/// Bytes behind the first characters that tell whether it is a token.
const LOOKED_AT: usize = 128;

/// Finds all prefixes at once.
struct Prefixes {
    automaton: AhoCorasick,
    /// The service of each pattern.
    services: Vec<&'static Service>,
}

static PREFIXES: LazyLock<Option<Prefixes>> = LazyLock::new(|| {
    let all = || SERVICES.iter().flat_map(|service| service.prefixes.iter().map(move |prefix| (service, *prefix)));
    let automaton =
        AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(all().map(|(_, prefix)| prefix));
    // Only a set that is too large cannot be built; the test of this module builds it.
    Some(Prefixes { automaton: automaton.ok()?, services: all().map(|(service, _)| service).collect() })
});

/// Adds what is found.
pub(super) fn scan(text: &str, found: &mut Vec<Secret>) {
    let Some(prefixes) = PREFIXES.as_ref() else { return };
    let mut after = 0;
    for hit in prefixes.automaton.find_iter(text) {
        let Some(service) = prefixes.services.get(hit.pattern().as_usize()) else { continue };
        if hit.start() < after {
            continue;
        }
        if let Some(span) = service.token(text, hit.start(), hit.end()) {
            after = span.end;
            found.push(Secret { kind: service.kind, span });
        }
    }
    web_tokens(text, found);
    headers(text, found);
}

impl Service {
    /// The token whose first characters stand at a place.
    fn token(&self, text: &str, start: usize, end: usize) -> Option<std::ops::Range<usize>> {
        let bytes = text.as_bytes();
        let body = run(bytes, end, self.signs, LOOKED_AT);
        // A full stop or a sign of equality may belong to what is around.
        let body = text.get(body)?.trim_end_matches(['.', '-']);
        let is_words =
            body.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-') && turns(body) * 5 < body.len();
        if body.len() < self.least || is_words || value::is_stand_in(body) {
            return None;
        }
        let from = match self.start {
            Start::Prefix if is_free(bytes, start) => start,
            Start::Prefix => return None,
            Start::Behind => end,
            Start::Before(least, signs) => {
                const MOST: usize = 64;
                let head = bytes.get(start.saturating_sub(MOST)..start)?;
                let length = head.iter().rev().take_while(|byte| signs.has(**byte)).count();
                if length < least {
                    return None;
                }
                start - length
            }
        };
        // Short names have much that looks like them: `sk-`, `re_`, `pat`.
        let short = end - start <= 4 && self.signs != Signs::Hex;
        if short && !is_mixed(body) {
            return None;
        }
        // What was looked at says that it is a token; all of it is.
        let length = if body.len() < LOOKED_AT { body.len() } else { run(bytes, end, self.signs, usize::MAX).len() };
        Some(from..end + length)
    }
}

/// The bytes of a kind from a place on.
fn run(bytes: &[u8], start: usize, signs: Signs, most: usize) -> std::ops::Range<usize> {
    let length = bytes.get(start..).unwrap_or_default().iter().take(most).take_while(|byte| signs.has(**byte)).count();
    start..start + length
}

/// Whether a word may begin at a place.
fn is_free(bytes: &[u8], start: usize) -> bool {
    let before = start.checked_sub(1).and_then(|before| bytes.get(before)).copied();
    before.is_none_or(|byte| !is_word(byte)) || is_after_escape(bytes, start)
}

/// How often small letters, capitals and digits change.
fn turns(body: &str) -> usize {
    let sort = |byte: u8| (byte.is_ascii_digit(), byte.is_ascii_uppercase());
    body.bytes().zip(body.bytes().skip(1)).filter(|(a, b)| sort(*a) != sort(*b)).count()
}

/// Whether letters and digits change so often that no words stand there.
fn is_mixed(body: &str) -> bool {
    let digits = body.bytes().filter(u8::is_ascii_digit).count();
    let capitals = body.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let changes = turns(body) * 5 >= body.len() || digits * 4 >= body.len() && turns(body) * 8 >= body.len();
    digits >= 2 && changes || digits >= 1 && capitals
}

/// JSON Web Tokens (RFC 7519): three or five parts of Base64, of which the first is an object.
fn web_tokens(text: &str, found: &mut Vec<Secret>) {
    const FEWEST: usize = 8;
    let mut after = 0;
    for start in memchr::memmem::find_iter(text.as_bytes(), "eyJ") {
        if start < after || !is_free(text.as_bytes(), start) {
            continue;
        }
        let span = run(text.as_bytes(), start, Signs::Dotted, usize::MAX);
        after = span.end;
        let Some(token) = text.get(span.clone()).map(|token| token.trim_end_matches('.')) else { continue };
        let parts: Vec<&str> = token.splitn(6, '.').collect();
        // Without a signature the second part may end it.
        let long = parts.iter().take(2).all(|part| part.len() >= FEWEST);
        if (2..=5).contains(&parts.len()) && long {
            found.push(Secret { kind: "json_web_token", span: start..start + token.len() });
        }
    }
}

/// What follows `Bearer` and `Basic` (RFC 6750, RFC 7617).
fn headers(text: &str, found: &mut Vec<Secret>) {
    static SCHEMES: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        let schemes = ["bearer ", "basic ", "authorization: token "];
        AhoCorasick::builder().ascii_case_insensitive(true).build(schemes).ok()
    });
    const SHORTEST: usize = 12;
    let Some(schemes) = SCHEMES.as_ref() else { return };
    for hit in schemes.find_iter(text) {
        if !is_free(text.as_bytes(), hit.start()) {
            continue;
        }
        let signs = |byte: &&u8| Signs::Dashed.has(**byte) || matches!(**byte, b'.' | b'~');
        let length = text.as_bytes().get(hit.end()..).unwrap_or_default().iter().take_while(signs).count();
        let span = hit.end()..hit.end() + length;
        let Some(token) = text.get(span.clone()) else { continue };
        let is_secret = match hit.pattern().as_usize() {
            1 => is_login(token),
            _ => is_mixed(token),
        };
        if length >= SHORTEST && is_secret && !value::is_stand_in(token) {
            let kind = if hit.pattern().as_usize() == 1 { "basic_login" } else { "bearer_token" };
            found.push(Secret { kind, span });
        }
    }
}

/// Whether Base64 holds a name and a password.
fn is_login(token: &str) -> bool {
    use base64::Engine as _;
    let engine = base64::engine::general_purpose::STANDARD_NO_PAD;
    let decoded = engine.decode(token.trim_end_matches('='));
    decoded.ok().and_then(|bytes| String::from_utf8(bytes).ok()).is_some_and(|login| {
        let password = login.split_once(':').map(|(_, password)| password);
        password.is_some_and(|password| !password.is_empty() && !login.contains(char::is_control))
    })
}
