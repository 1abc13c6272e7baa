import type { Pack } from './pack.js'

const BACKTICK = '`'
/** Text between two commands. A backtick after a space is more often Markdown code than a command. */
const BETWEEN = String.raw`(?:(?:;|\||&&|\$\(|(?:^|[\w=/:&|"'])${BACKTICK}) ?)`
/** Commands that reveal information about the machine. */
const SHORT = '(?:id|ls|pwd|ps|env|set|dir)'

/** Shell commands injected into a value. */
export const COMMAND_INJECTION: Pack = {
  version: 1,
  rules: [
    {
      name: 'second-command',
      score: 5,
      pattern: `${BETWEEN}(?:(?:whoami|uname|ifconfig|netstat|printenv|certutil|nslookup|ncat)\\b|(?:curl|wget|telnet) (?:-|https?:|ftp:|//|\\$|[\\w-]+\\.[\\w-]|\\d)|(?:python|perl|bash)\\d? (?:-[a-z]|[/.~$<>]|[\\w/-]+\\.(?:py|pl|sh)\\b)|(?:chmod|chown) (?:[-+/~\\d$]|\\w+[:+]))`,
    },
    {
      name: 'second-command-with-argument',
      score: 5,
      pattern: `${BETWEEN}(?:(?:cat|ls|rm|cp|mv|find|ping|nc|sh|echo|dig|head|tail|touch|php|ruby) (?:-{1,2}[a-z]{1,3}\\b|\\.{0,2}/|~/|\\*|\\$)|(?:ping|nc|dig) (?:\\d+\\.\\d|[\\w-]+\\.[a-z])|kill -\\d|sleep \\d+ ?(?:$|[;|&#)"'\`]))`,
    },
    {
      name: 'command-alone',
      score: 5,
      pattern: `;${SHORT}(?:[;|&]|$)|(?:^|[\\d.] ?)(?:;|\\|\\|?|&) ?${SHORT}(?:[;|&#]|$)|&& ?${SHORT}(?:[;|&#]|$)|\\$\\( ?${SHORT} ?\\)|^\`${SHORT}\`$|[\\w=/:&|]\`${SHORT}\`|["']\`${SHORT}\`["']`,
    },
    {
      name: 'shell-path',
      score: 5,
      pattern: String.raw`/(?:s?bin)/(?:ba|z|k|c|da|a)?sh\b|/bin/(?:cat|ls|id|nc|ping|rm|uname|chmod|netcat)\b`,
    },
    {
      name: 'windows-shell',
      score: 5,
      pattern: String.raw`\bcmd(?:\.exe)? ?/[ck] |\bpowershell(?:\.exe)? -`,
    },
    {
      name: 'reverse-shell',
      score: 5,
      pattern: String.raw`/dev/(?:tcp|udp)/|\b(?:nc|ncat|netcat) -[a-z]*e\b|\bmkfifo /`,
    },
    { name: 'field-separator', score: 5, pattern: String.raw`\$\{?ifs\b` },
    { name: 'function-in-environment', score: 5, pattern: String.raw`\( ?\) ?\{ ?[:_][^}]*\} ?;` },
    {
      name: 'lookup',
      score: 5,
      pattern: String.raw`\$\{ ?(?:jndi|lower|upper|env|sys|java) ?:|\$\{::-|\$\{\$\{`,
    },
  ],
}
