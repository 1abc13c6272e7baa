import type { Pack } from './pack.js'

/** Paths that leave the document root, and files that must never be served. */
export const PATH_TRAVERSAL: Pack = {
  version: 1,
  rules: [
    { name: 'parent-twice', score: 5, pattern: String.raw`(?:^|[^(])\.\.[/\\][/\\]{0,3}\.\.(?:[/\\]|$)` },
    { name: 'parent-disguised', score: 5, pattern: String.raw`\.\.;/|\.\.\.\.(?://|\\\\)` },
    {
      name: 'parent-of-system',
      score: 5,
      pattern: String.raw`\.\.[/\\][/\\]{0,3}(?:etc|proc|var|usr|root|home|windows|winnt|boot\.ini|web-inf)\b`,
    },
    {
      name: 'unix-file',
      score: 5,
      pattern: String.raw`/etc/(?:passwd|shadow|group|sudoers|ssh|hosts|crontab)\b|/proc/(?:self|\d+)/|/\.ssh/|/\.aws/credentials`,
    },
    {
      name: 'windows-file',
      score: 5,
      pattern: String.raw`\b(?:windows|winnt)[/\\]{1,4}(?:system32|win\.ini|system\.ini)|[/\\]boot\.ini\b`,
    },
    {
      name: 'application-file',
      score: 5,
      pattern: String.raw`/(?:web|meta)-inf/|/\.git/(?:config|head|index)|/\.ht(?:access|passwd)\b|/\.env(?:$|[?#."' ])`,
    },
    {
      name: 'wrapper',
      score: 5,
      pattern: String.raw`\b(?:php://(?:input|filter)|phar://|expect://|zip://|jar:(?:https?|file):|file:///)`,
    },
  ],
}
