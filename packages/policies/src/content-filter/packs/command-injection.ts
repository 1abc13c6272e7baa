import type { Pack } from './pack.js'

/** What stands between two commands. */
const BETWEEN = String.raw`(?:;|; |\||\| |${'`'}|\$\(|\$\( |&&|&& )`

/** Commands of a shell that somebody smuggles into a value. */
export const COMMAND_INJECTION: Pack = {
  version: 1,
  rules: [
    {
      name: 'second-command',
      score: 5,
      pattern: `${BETWEEN}(?:wget|curl|ncat|nslookup|powershell|whoami|uname|certutil|ifconfig|netstat|chmod|chown|telnet|python|perl|bash|printenv)\\b`,
    },
    {
      name: 'second-command-with-argument',
      score: 5,
      pattern: `${BETWEEN}(?:cat|ls|rm|cp|mv|find|ping|nc|sh|echo|dig|kill|head|tail|touch|sleep|php|ruby) [-/.~*$\\d]`,
    },
    {
      name: 'command-alone',
      score: 5,
      pattern: String.raw`(?:;|\||${'`'}|\$\() ?(?:id|ls|pwd|ps|env|set)(?:[;|${'`'})]|$)`,
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
