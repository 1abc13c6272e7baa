import { KNOWN_PREFIXES } from '../namespaces.js'

/** A step of a path, from an element to its children. */
export interface PlainStep {
  /** Local name, or null for any. */
  readonly local: Uint8Array | null
  /** Namespace: empty for no namespace, null for any. */
  readonly namespace: Uint8Array | null
  /** Position among the matching siblings, starting at 1, or 0 for all of them. */
  readonly position: number
  /** Required value of an attribute without a prefix, or null. */
  readonly attribute: { readonly name: Uint8Array; readonly value: string } | null
}

/** Name of an attribute. */
export interface PlainName {
  readonly local: Uint8Array
  /** Namespace, or empty for no namespace. */
  readonly namespace: Uint8Array
}

/** A path that can be evaluated while a document is read from the beginning. */
export interface PlainPath {
  /** True if the first step may match any element of the document, not only its root. */
  readonly isAnywhere: boolean
  readonly steps: readonly PlainStep[]
  /** Result to read from the element of the last step: its whole text, its first text node, or an attribute. */
  readonly target: 'content' | 'text' | PlainName
}

const XML_NAMESPACE = Buffer.from(KNOWN_PREFIXES.xml!)

type Names = Readonly<Record<string, string>>

const NAME = '[A-Za-z_][A-Za-z0-9_.-]*'
const LOCAL_NAME = `\\*\\[local-name\\(\\)\\s*=\\s*(?:'(?<single>${NAME})'|"(?<double>${NAME})")\\]`
const ATTRIBUTE = `\\[@(?<attribute>${NAME})\\s*=\\s*(?:'(?<value>[^']*)'|"(?<quoted>[^"]*)")\\]`
const STEP = new RegExp(
  `(?:${LOCAL_NAME}|(?:(?<prefix>${NAME}):)?(?<name>${NAME})|\\*)(?:\\[(?<position>[1-9]\\d{0,3})\\]|${ATTRIBUTE})?`,
  'y',
)
const TARGET = new RegExp(`^/(?:text\\(\\)|@(?:(?<prefix>${NAME}):)?(?<name>${NAME}))$`)

/** Maximum number of steps, limited by the bits that track the matching steps of an element. */
const MAX_STEPS = 16

/**
 * Parses simple paths, as content routing uses them. A path starts at the root or with one `//` and proceeds from
 * child to child by name, position or attribute value. It ends at an element, an attribute or a text.
 * @param path expression that has been compiled, so its syntax is valid.
 * @returns null for any other expression.
 */
export function plainPath(path: string, names: Names): PlainPath | null {
  const isAnywhere = path.startsWith('//')
  const steps: PlainStep[] = []
  let at = isAnywhere ? 2 : path.startsWith('/') ? 1 : 0
  for (;;) {
    STEP.lastIndex = at
    const match = STEP.exec(path)
    if (match === null || steps.length === MAX_STEPS) return null
    steps.push(stepOf(match.groups!, names))
    at = STEP.lastIndex
    if (at === path.length) return { isAnywhere, steps, target: 'content' }
    const end = TARGET.exec(path.slice(at))
    if (end !== null) return { isAnywhere, steps, target: targetOf(end.groups!, names) }
    if (path[at] !== '/') return null
    at++
  }
}

type Groups = Readonly<Record<string, string | undefined>>

function stepOf(groups: Groups, names: Names): PlainStep {
  const { single, double, name, prefix, position = '0', attribute, value, quoted } = groups
  const local = single ?? double ?? name
  return {
    local: local === undefined ? null : Buffer.from(local),
    namespace: name === undefined ? null : namespaceOf(prefix, names),
    position: Number(position),
    attribute:
      attribute === undefined ? null : { name: Buffer.from(attribute), value: value ?? quoted ?? '' },
  }
}

function targetOf({ prefix, name }: Groups, names: Names): PlainPath['target'] {
  if (name === undefined) return 'text'
  return { local: Buffer.from(name), namespace: namespaceOf(prefix, names) }
}

function namespaceOf(prefix: string | undefined, names: Names): Uint8Array {
  // The prefix `xml` always has this namespace, as in libxml2.
  if (prefix === 'xml') return XML_NAMESPACE
  return Buffer.from(prefix === undefined ? '' : names[prefix]!)
}
