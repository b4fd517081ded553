//! Python, Ruby, Java, .NET, and bytes that become objects.

use super::rule::Weight::{Hostile, Plain};
use super::rule::{Rule, rule};

pub(super) const RULES: &[Rule] = &[
    rule("code.python.escape", "__subclasses__", 84, Hostile)
        .at(
            &["__class__", "__subclasses__", "__globals__", "__builtins__", "__mro__"],
            r"^(?:__class__\s*\.\s*__(?:base|bases|mro|init|subclasses)__|__subclasses__\s*\(\s*\)\s*\[|__globals__\s*\[\s*[\x22'](?:os|__builtins__|sys)|__builtins__\s*(?:\.__dict__|\[[\x22'](?:eval|exec|open|__import__)|\.(?:eval|exec|open)\b)|__mro__\s*\[\s*-?\d+\s*\]\s*\.\s*__sub)",
        )
        .examples(&["().__class__.__bases__[0].__subclasses__()", "x.__globals__['os'].popen('id')"], &["self.__class__.__name__", "Base.__subclasses__()", "__builtins__ holds names"]),
    rule("code.python.spawn", "pty.spawn(", 86, Hostile)
        .at(&["pty.spawn"], r"^pty\.spawn\s*\(")
        .examples(&["import pty; pty.spawn('/bin/bash')"], &["pty.spawn is a function"]),
    rule("code.python.import", "import os", 70, Hostile)
        .at(&["import os", "import subprocess", "from os import"], r"^(?:import|from)\s+(?:os|subprocess)(?:\s+import\s+(?:system|popen)\b)?\s*;\s*(?:\w+\s*=\s*)?(?:os\.|subprocess\.|print\(\s*(?:os|subprocess)\.)?(?:system|popen|run|call|check_output|remove|environ|listdir)\b")
        .examples(&["import os; os.system('id')", "import subprocess;print(subprocess.check_output('id'))"], &["import os, sys", "import os; os.getcwd()"]),
    rule("code.python.pickle", "pickle", 86, Hostile)
        .at(
            &["cos\n", "cposix\n", "c__builtin__\n", "cbuiltins\n", "csubprocess\n", "cnt\n", "cos\\n", "cposix\\n", "c__builtin__\\n", "cbuiltins\\n", "csubprocess\\n"],
            r"^c\w{2,12}(?:\n|\\n)(?:system|popen|eval|exec|getattr|execfile|check_output|call)(?:\n|\\n)",
        )
        .examples(&["cos\nsystem\n(S'id'\ntR.", "cos\\nsystem\\n(S'id'\\ntR."], &["cos\n(x) and sin"]),
    rule("code.python.pickle", "__reduce__", 76, Hostile)
        .at(&["__reduce__"], r"^__reduce__.{0,160}?(?:os\.(?:system|popen)|subprocess|\beval\b|\bexec\b|\bsystem\b)")
        .examples(&["def __reduce__(self): return (os.system, ('id',))"], &["def __reduce__(self): return (Point, (1, 2))"]),
    rule("code.yaml.tag", "yaml tag", 84, Hostile)
        .at(
            &["!!python/", "!ruby/", "!!javax.", "!!com.sun", "!!org.", "!!java.", "!python/"],
            r"^!!?(?:python/(?:object(?:/(?:apply|new))?|name|module):\s*[\w.]|ruby/(?:object|hash|struct|array|sym)[:\s]?|javax\.script|com\.sun\.|org\.\w+\.\w|java\.(?:net|lang)\.)",
        )
        .examples(&["!!python/object/apply:os.system [id]", "--- !ruby/object:Gem::Installer", "!!javax.script.ScriptEngineManager [x]"], &["!!str 12", "!!python/tuple [1, 2]"]),
    rule("code.php.object", "serialised object", 86, Hostile)
        .at(&["o:", "c:"], r"^[oc]:\+?\d{1,4}:\\?[\x22'][\w\\]{1,80}\\?[\x22']:\d{1,4}:\{")
        .examples(&["O:8:\"Evil\":1:{s:4:\"code\";s:10:\"phpinfo();\";}"], &["o:1", "c:\\temp", "ratio: 4:3"]),
    rule("code.php.wrapper", "php stream", 62, Plain)
        .at(&["php://", "expect://", "phar://", "data://"], r"^(?:php://filter/\S|expect://\w|phar://\S+\.(?:phar|jpg|png|gif|zip)|data://text/plain;base64,)")
        .examples(&["php://filter/convert.base64-encode/resource=index", "expect://id"], &["php://stdin", "php://output"]),
    rule("code.java.object", "serialised object", 84, Hostile)
        .at(&["ro0ab", "aced0005", "\\xac\\xed\\x00\\x05"], r"^(?:ro0ab[a-z0-9+/=]{6,}|aced0005[0-9a-f]{4,}|\\xac\\xed\\x00\\x05)")
        .examples(&["rO0ABXNyABFqYXZhLnV0aWwuSGFzaE1hcA==", "aced00057372"], &["ro0ab"]),
    rule("code.java.runtime", "runtime.exec(", 84, Hostile)
        .at(&["getruntime"], r"^getruntime\s*\(\s*\)\s*\.\s*(?:exec|load|loadlibrary)\s*\(|^getruntime[\x22']\s*\)?.{0,60}?(?:invoke|exec)")
        .examples(&["Runtime.getRuntime().exec(\"id\")"], &["Runtime.getRuntime().availableProcessors()", "getRuntime() returns an object"]),
    rule("code.java.runtime", "java.lang.runtime", 82, Hostile)
        .at(&["forname(", "scriptenginemanager"], r"^(?:forname\(\s*[\x22']java\.lang\.(?:runtime|processbuilder|system)|scriptenginemanager\s*\(\s*\)\s*\.\s*getenginebyname\([^)\n]{1,30}\)\s*\.\s*eval)")
        .examples(&["Class.forName(\"java.lang.Runtime\")"], &["Class.forName(\"org.postgresql.Driver\")"]),
    rule("code.dotnet.object", "serialised object", 84, Hostile)
        .at(&["aaeaaad", "objectdataprovider", "$type"], r"^(?:aaeaaad/{4,}|objectdataprovider\b.{0,160}?methodname|\$type[\x22']?\s*:\s*[\x22']system\.(?:windows\.data|diagnostics|io\.|configuration\.install|security\.principal|management))")
        .examples(&["AAEAAAD/////AQAAAAAAAAAMAgAAAE", "{\"$type\": \"System.Windows.Data.ObjectDataProvider\"}"], &["{\"$type\": \"Shop.Order\"}", "ObjectDataProvider binds data"]),
    rule("code.dotnet.shell", "wscript.shell", 78, Hostile)
        .at(&["wscript.shell", "shell.application", "activexobject("], r"^(?:wscript\.shell[\x22']\s*\)|shell\.application[\x22']\s*\)|activexobject\(\s*[\x22'](?:wscript|shell|scripting))")
        .examples(&["CreateObject(\"WScript.Shell\").Run \"calc\""], &["WScript.Shell is a COM object"]),
    rule("code.ruby.command", "%x", 74, Hostile)
        .at(&["%x(", "%x{", "%x[", "%x|", "%x`"], r"^%x.\s*(?:id|whoami|cat|ls|rm|curl|wget|nc|bash|sh|uname|env)\b")
        .examples(&["%x(id)", "%x{cat /etc/passwd}"], &["printf(\"%x(%d)\")", "%x(name)"]),
    rule("code.ruby.command", "open(\"|", 76, Hostile)
        .at(&["open(\"|", "open('|", "open(\"| ", "popen(\"|"], r#"^p?open\(["']\|\s*\w"#)
        .examples(&["open(\"|id\").read"], &["open(\"|\")"]),
    rule("code.ruby.send", "send(", 76, Hostile)
        .at(&["send(:", "send(\"", "send('", "__send__(", "public_send("], r"^\w*send(?:__)?\(\s*[:\x22']?(?:system|exec|eval|instance_eval|`|popen)\b")
        .examples(&["1.send(:system, 'id')", "obj.__send__(:eval, x)"], &["ws.send(\"hello\")", "obj.public_send(:name)"]),
    rule("code.perl.command", "qx", 72, Hostile)
        .at(&["qx{", "qx(", "qx/", "qx[", "qx|"], r"^qx.\s*(?:id|whoami|cat|ls|rm|curl|wget|nc|bash|sh|uname|env)\b")
        .examples(&["print qx{id}"], &["the qx( operator"]),
];
