import type { Pack } from './pack.js'

const EVENTS = [
  'abort|animationend|animationstart|auxclick|beforeprint|beforeunload|begin|blur|canplay|change|click|contextmenu|copy|cut',
  'dblclick|drag|dragend|dragenter|dragstart|drop|end|ended|error|focus|focusin|hashchange|input|invalid|keydown|keypress|keyup',
  'load|loadstart|message|mousedown|mouseenter|mouseleave|mousemove|mouseout|mouseover|mouseup|pageshow|paste|play|pointerdown',
  'pointerenter|pointerover|popstate|repeat|reset|resize|scroll|search|select|show|start|submit|toggle|touchstart|transitionend',
  'unload|wheel',
].join('|')

/** Markup and script injected into a page. */
export const XSS: Pack = {
  version: 1,
  rules: [
    { name: 'script-element', score: 5, pattern: String.raw`<[/ ]{0,2}script\b` },
    { name: 'event-handler', score: 5, pattern: `(?:<[^<>]*[ /"']|["'][ /]{0,3})on(?:${EVENTS}) ?=` },
    // Matches attributes without quotes.
    { name: 'event-call', score: 5, pattern: `[ /]on(?:${EVENTS})=["'\`]?[\\w.]+[(\`]` },
    {
      name: 'script-url',
      score: 5,
      pattern: String.raw`\b(?:java ?script|vb ?script|livescript) ?:(?:[^\s"',<.)]| [^ ]*[(=\[])`,
    },
    { name: 'data-url', score: 5, pattern: String.raw`\bdata ?: ?(?:text/html|image/svg\+xml) ?[,;]` },
    {
      name: 'active-element',
      score: 5,
      pattern: '<(?:iframe|embed|applet|svg|frameset|marquee|bgsound)[ />]|<math[ /]',
    },
    {
      name: 'document-access',
      score: 5,
      pattern: String.raw`\bdocument ?\. ?(?:cookie\b|(?:domain|write|writeln|location|body) ?[.=(\[])|\bwindow\.(?:location|open|name) ?[.=(\[]`,
    },
    {
      name: 'dialog-or-eval',
      score: 3,
      pattern: String.raw`\b(?:alert|confirm|prompt|eval|atob|importscripts)(?:${'`'}|\((?:[^s]|s[^)]))`,
    },
    {
      name: 'script-property',
      score: 3,
      pattern: String.raw`\b(?:innerhtml|outerhtml|srcdoc|string\.fromcharcode|constructor\.constructor)\b ?[=(]`,
    },
    {
      name: 'css-expression',
      score: 5,
      pattern: String.raw`: ?expression\(|-moz-binding ?:|@import ?["']?(?:https?|java)`,
    },
  ],
}
