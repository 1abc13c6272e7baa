import { KNOWN_PREFIXES } from '../namespaces.js'

/** A step from an element to its children. */
export interface PlainStep {
  /** Null: any. */
  readonly local: Uint8Array | null
  /** Empty: none; null: any. */
  readonly namespace: Uint8Array | null
  /** Which of the siblings that the step finds, from 1; 0: all of them. */
  readonly position: number
  /** An attribute without prefix that has to have this value. */
  readonly attribute: { readonly name: Uint8Array; readonly value: string } | null
}

/** The name of an attribute. */
export interface PlainName {
  readonly local: Uint8Array
  /** Empty: none. */
  readonly namespace: Uint8Array
}

/** A path that can be followed while a document is read from its beginning. */
export interface PlainPath {
  /** The first step goes to any element of the document, not only to its root. */
  readonly isAnywhere: boolean
  readonly steps: readonly PlainStep[]
  /** What is read of the element that the last step finds: all of its text, its first text node, or an attribute. */
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

/** More steps than bits are there to say where an element stands. */
const MAX_STEPS = 16

/**
 * Takes apart paths as they are written to route by content: from the root or from one `//`, child by child, with names,
 * positions and attributes of given value, to an element, an attribute or a text.
 * @param path that has been compiled: its syntax is right.
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
  // Whatever else it is said to stand for, as libxml2 has it.
  if (prefix === 'xml') return XML_NAMESPACE
  return Buffer.from(prefix === undefined ? '' : names[prefix]!)
}
