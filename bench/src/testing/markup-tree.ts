/** An element of a well-formed document. */
export interface MarkupElement {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly (MarkupElement | string)[]
}

const TOKEN =
  /<!DOCTYPE html>|<\?xml[^>]*\?>|<\/([\w:-]+)>|<([\w:-]+)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/gy
const ENTITY = /&(?:amp|lt|gt|quot|#39);/g
const NAMES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
}

/**
 * Reads a document as strictly as XML does: every element closed in order, attributes quoted and named once, no bare
 * ampersand or angle bracket. @throws Error with the place of what is wrong.
 */
export function markupTree(text: string): MarkupElement {
  const open: { name: string; attributes: Record<string, string>; children: (MarkupElement | string)[] }[] =
    []
  let root: MarkupElement | null = null
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.length) {
    const place = TOKEN.lastIndex
    const match = TOKEN.exec(text)
    if (match === null) throw new Error(`not well-formed at ${place}: ${text.slice(place, place + 80)}`)
    const [, closed, opened, attributes, isEmpty, content] = match
    if (content !== undefined) open.at(-1)?.children.push(plain(content, place))
    if (opened !== undefined) {
      const element = { name: opened, attributes: attributesOf(attributes ?? '', place), children: [] }
      open.at(-1)?.children.push(element)
      if (root !== null && open.length === 0) throw new Error(`a second root at ${place}`)
      root ??= element
      if (isEmpty === '') open.push(element)
    }
    if (closed !== undefined && open.pop()?.name !== closed)
      throw new Error(`</${closed}> at ${place} closes another element`)
  }
  if (root === null || open.length > 0) throw new Error(`unclosed: ${open.map(({ name }) => name).join(' ')}`)
  return root
}

/** All elements of a name, in order. */
export function elementsOf(tree: MarkupElement, name: string): MarkupElement[] {
  const below = tree.children.flatMap((child) => (typeof child === 'string' ? [] : elementsOf(child, name)))
  return tree.name === name ? [tree, ...below] : below
}

/** All text below an element. */
export function textOf(tree: MarkupElement): string {
  return tree.children.map((child) => (typeof child === 'string' ? child : textOf(child))).join('')
}

function attributesOf(text: string, place: number): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [, name, value] of text.matchAll(/([\w:-]+)="([^"]*)"/g)) {
    if (found[name!] !== undefined) throw new Error(`the attribute ${name} stands twice at ${place}`)
    found[name!] = plain(value!, place)
  }
  return found
}

function plain(text: string, place: number): string {
  if (text.replace(ENTITY, '').includes('&')) throw new Error(`a bare ampersand behind ${place}`)
  return text.replace(ENTITY, (entity) => NAMES[entity]!)
}
