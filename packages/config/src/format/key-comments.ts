import { type Document, isCollection, isMap, isNode, isScalar, type Node, visit } from 'yaml'

/** Marks comments that stay on the line of their key. No YAML file may contain this character. */
const MARK = '\u0001'
const MARKED = new RegExp(`(:(?: [&!]\\S+)*)\\n *#${MARK}`, 'g')

/**
 * Attaches each comment to the part that it describes: comments at the top to the document, comments on the line of a key
 * to that line, and other comments to the first part below them. The library attaches all of them to the next part.
 */
export function attachComments(document: Document, source: string): void {
  attachTop(document)
  visit(document, {
    Pair: (_, { key, value }) => {
      if (!isScalar(key) || !isCollection(value) || !value.commentBefore || !key.range) return
      const rest = source.slice(key.range[1], source.indexOf('\n', key.range[1]))
      const isOnLine = /^\s*:(?:\s+[&!]\S+)*\s+#/.test(rest)
      const lines = value.commentBefore.split('\n')
      value.commentBefore = isOnLine ? MARK + lines.shift()! : null
      putBefore(firstPart(value), lines.join('\n'))
    },
  })
}

/** Returns a formatted text with the marked comments on the lines of their keys. */
export function joinComments(formatted: string): string {
  return formatted.replaceAll(MARKED, '$1 #')
}

/** Separates the comment of the document from that of its first key, which follows the last blank line. */
function attachTop(document: Document): void {
  const first = firstPart(document.contents)
  const comment = first?.commentBefore ?? ''
  const end = comment.lastIndexOf('\n\n')
  if (first === null || end === -1) return
  document.commentBefore = [document.commentBefore, comment.slice(0, end)].filter(Boolean).join('\n\n')
  first.commentBefore = comment.slice(end + 2)
}

/** Returns the first key of an object or the first item of a list. */
function firstPart(collection: unknown): Node | null {
  const [first] = isCollection(collection) ? collection.items : []
  const part = isMap(collection) ? (first as { readonly key: unknown } | undefined)?.key : first
  return isNode(part) ? part : null
}

function putBefore(node: Node | null, comment: string): void {
  if (node !== null && comment !== '')
    node.commentBefore = [comment, node.commentBefore].filter(Boolean).join('\n')
}
