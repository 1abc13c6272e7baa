import { libxml } from '../../engines/xml/libxml.js'

/** A value that is not of its type as it is written. */
export interface MisreadValue {
  /** The address of the element. */
  readonly element: number
  /** The attribute of it; null for the element's own text. */
  readonly attribute: { readonly name: string; readonly namespace: string | null } | null
}

/**
 * Matches the message for a value that its type cannot be written as. Facets have messages of their own, and every text
 * is a string: white space around values of all other types does not count (XML Schema Datatypes 4.3.6).
 */
const WRONG_LETTERS =
  /^Element '[^']*'(?:, attribute '(?:\{([^}']*)\})?([^']*)')?: '.*' is not a valid value of the (?:local )?atomic type(?: '[^']*')?\.\s*$/s

/** Returns the value that a message of libxml2 is about, or null if it says something else. */
export function misreadValue(message: string, element: number): MisreadValue | null {
  const found = WRONG_LETTERS.exec(message)
  if (found === null || element === 0) return null
  const [, namespace = null, name] = found
  return { element, attribute: name === undefined ? null : { name, namespace } }
}

const TEXT = 3
const CDATA = 4
/** White space of XML. */
const BLANK = ' \t\n\r'

/**
 * Takes the white space around values away, which libxml2 leaves around dates, times and durations.
 * @returns a function that puts it back, because the document belongs to others as well; null if there was none.
 */
export function collapseValues(values: readonly MisreadValue[]): (() => void) | null {
  const { XmlTreeCommonStruct: tree, xmlHasNsProp } = libxml().raw
  const undo: (() => void)[] = []
  for (const { element, attribute } of values) {
    const owner =
      attribute === null ? element : xmlHasNsProp(element as never, attribute.name, attribute.namespace)
    if (owner === 0) continue
    change(tree.children(owner as number), false, undo)
    change(tree.last(owner as number), true, undo)
  }
  if (undo.length === 0) return null
  return () => {
    for (const one of undo.reverse()) one()
  }
}

function change(node: number, isEnd: boolean, undo: (() => void)[]): void {
  const { XmlTreeCommonStruct: tree, xmlNodeGetContent, xmlNodeSetContent } = libxml().raw
  if (node === 0 || (tree.type(node) !== TEXT && tree.type(node) !== CDATA)) return
  const before = xmlNodeGetContent(node as never)
  let start = 0
  let end = before.length
  if (isEnd) while (BLANK.includes(before.charAt(end - 1)) && end > 0) end--
  else while (BLANK.includes(before.charAt(start)) && start < end) start++
  if (end - start === before.length) return
  xmlNodeSetContent(node as never, before.slice(start, end))
  undo.push(() => xmlNodeSetContent(node as never, before))
}
