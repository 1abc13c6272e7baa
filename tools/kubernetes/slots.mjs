import { objectsYaml } from '../../packages/cli/dist/kubernetes/objects/objects-yaml.js'

/** First line of a template that uses facts of the document. */
const FACTS = '{{- $facts := include "sluice.facts" . | fromJson }}\n'

/**
 * Returns the template of an object. A slot replaces the value at a path such as `spec/replicas`; `~1` in a path is a
 * slash. The path of a slot must exist, so a changed object cannot silently lose a slot.
 */
export function templateOf(object, { slots, texts, condition = null, each = null }) {
  const copy = structuredClone(object)
  const places = Object.entries(slots).map(([path, slot], i) => {
    const token = `__slot_${i}__`
    replaceAt(copy, path, token)
    return { token, slot }
  })
  let text = objectsYaml([copy])
  for (const { token, slot } of places) text = withSlot(text, token, slot)
  text = text
    .split('\n')
    .map((line) => withTexts(line, texts))
    .join('\n')
  const left = /__slot_\d+__|slot-[a-z]+|\bslot\b/.exec(text)
  if (left !== null) throw new Error(`${object.kind}: the template still contains ${left[0]}`)
  const framed = frame(text, { condition, each })
  return framed.includes('$facts') ? FACTS + framed : framed
}

/** `key: {{ expression }}`, for values other than strings. */
export const value = (expression) => ({ lines: (head) => [`${head} {{ ${expression} }}`] })

/** `key: "text"`, so that a name such as 123 or 1e3 is not read as a number. */
export const name = (expression) => value(`${expression} | quote`)

/** The key with template lines below it. */
export const below = (...lines) => ({
  lines: (head, indent) => [
    head,
    ...lines.map((line) => `${indent}  ${line.replace('nindent N', `nindent ${indent.length + 2}`)}`),
  ],
})

/** The key with the mapping or list of an expression, which is never empty. */
export const block = (expression) => below(`{{- toYaml ${expression} | nindent N }}`)

/** The key with the output of a named template. */
export const included = (name) => below(`{{- include "${name}" . | nindent N }}`)

/** The key with the mapping or list of an expression, if that is not empty. */
export const optional = (expression) => framedBy(`with ${expression}`, block('.'))

/** The key and a slot under a condition. */
export const when = (condition, slot) => framedBy(`if ${condition}`, slot)

/** Template lines that replace an item of a list. */
export const items = (...lines) => ({ lines: (_head, indent) => lines.map((line) => indent + line) })

function framedBy(opening, slot) {
  return {
    lines: (head, indent) => [
      `${indent}{{- ${opening} }}`,
      ...slot.lines(head, indent),
      `${indent}{{- end }}`,
    ],
  }
}

function replaceAt(object, path, token) {
  const keys = path.split('/').map((key) => key.replaceAll('~1', '/'))
  const last = keys.pop()
  const parent = keys.reduce((part, key) => part?.[key], object)
  if (parent?.[last] === undefined) throw new Error(`${object.kind} has no ${path}`)
  parent[last] = token
}

/** Replaces the line of a token: `key: token`, `- key: token` or `- token`. */
function withSlot(text, token, slot) {
  const lines = text.split('\n').flatMap((line) => {
    const at = line.indexOf(token)
    if (at === -1) return [line]
    return slot.lines(line.slice(0, at).trimEnd(), /^ */.exec(line)[0])
  })
  return lines.join('\n')
}

/** Quotes a value that consists only of a name. */
function withTexts(line, texts) {
  const filled = texts.reduce((text, [from, to]) => text.replaceAll(from, to), line)
  if (filled === line) return line
  return filled.replace(/^( *(?:- )?[\w./-]+: )((?:[\w.-]|\{\{ [^{}]+ \}\})+)$/, `$1"$2"`)
}

function frame(text, { condition, each }) {
  const inner = each === null ? text : `{{- ${each} }}\n---\n${text}{{- end }}\n`
  return condition === null ? inner : `{{- ${condition} }}\n${inner}{{- end }}\n`
}
