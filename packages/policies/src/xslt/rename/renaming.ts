import type { XmlElement } from 'libxml2-wasm'

/** What a stylesheet does that copies everything and renames some elements. It can be cloned. */
export interface Renaming {
  /** Old and new name of elements without namespace. */
  readonly names: readonly (readonly [string, string])[]
  readonly hasDeclaration: boolean
}

const XSL = 'http://www.w3.org/1999/XSL/Transform'
/** Names that are the same to every reader: ASCII, no prefix, no braces of attribute value templates. */
const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/
const EVERYTHING: ReadonlySet<string> = new Set(['@*|node()', 'node()|@*'])

/**
 * Recognises a stylesheet of XSLT 1.0 that is an identity copy with templates of this form, and nothing else:
 *
 *     <xsl:template match="old"><xsl:element name="new"><xsl:apply-templates select="@*|node()"/></xsl:element></xsl:template>
 *
 * @returns null for every other stylesheet: libxslt runs it.
 */
export function renamingOf(root: XmlElement): Renaming | null {
  if (!isXsl(root, 'stylesheet') && !isXsl(root, 'transform')) return null
  if (!hasOnly(root, ['version']) || root.attr('version')?.content !== '1.0') return null
  const children = elementsOf(root)
  if (children === null) return null
  const outputs = children.filter((child) => isXsl(child, 'output'))
  const templates = children.filter((child) => isXsl(child, 'template'))
  if (outputs.length > 1 || outputs.length + templates.length !== children.length) return null
  const hasDeclaration = outputs[0] === undefined ? true : declarationOf(outputs[0])
  const copies = templates.filter(isCopy)
  const names = templates.filter((template) => !isCopy(template)).map(renameOf)
  if (hasDeclaration === null || copies.length !== 1 || names.some((name) => name === null)) return null
  const renames = names as [string, string][]
  // With two templates for one name the last one counts; nobody writes that on purpose.
  if (new Set(renames.map(([from]) => from)).size !== renames.length) return null
  return { names: renames, hasDeclaration }
}

function declarationOf(output: XmlElement): boolean | null {
  if (!hasOnly(output, ['method', 'omit-xml-declaration', 'indent', 'media-type', 'version'])) return null
  const value = (name: string): string | undefined => output.attr(name)?.content
  if ((value('method') ?? 'xml') !== 'xml' || (value('version') ?? '1.0') !== '1.0') return null
  if ((value('indent') ?? 'no') !== 'no') return null
  const omit = value('omit-xml-declaration') ?? 'no'
  if (omit !== 'yes' && omit !== 'no') return null
  return omit === 'no'
}

function isCopy(template: XmlElement): boolean {
  const match = template.attr('match')?.content.replaceAll(' ', '') ?? ''
  const copy = onlyChild(template)
  return (
    hasOnly(template, ['match']) &&
    EVERYTHING.has(match) &&
    copy !== null &&
    isXsl(copy, 'copy') &&
    hasOnly(copy, []) &&
    appliesToAll(copy)
  )
}

function renameOf(template: XmlElement): [string, string] | null {
  const element = onlyChild(template)
  const from = template.attr('match')?.content ?? ''
  if (!hasOnly(template, ['match']) || !NAME.test(from) || element === null) return null
  const to = element.attr('name')?.content ?? ''
  if (!isXsl(element, 'element') || !hasOnly(element, ['name']) || !NAME.test(to)) return null
  return appliesToAll(element) ? [from, to] : null
}

function appliesToAll(parent: XmlElement): boolean {
  const child = onlyChild(parent)
  if (child === null || !isXsl(child, 'apply-templates') || !hasOnly(child, ['select'])) return false
  return EVERYTHING.has(child.attr('select')!.content.replaceAll(' ', '')) && elementsOf(child)?.length === 0
}

function onlyChild(parent: XmlElement): XmlElement | null {
  const children = elementsOf(parent)
  return children?.length === 1 ? children[0]! : null
}

/** The child elements; null when there is anything else that means something. */
function elementsOf(parent: XmlElement): XmlElement[] | null {
  if (parent.get('text()[normalize-space()]') !== null) return null
  return parent.find('*') as XmlElement[]
}

function isXsl(element: XmlElement, name: string): boolean {
  return element.namespaceUri === XSL && element.name === name
}

/** Whether it has no attributes but these, none of them in a namespace. */
function hasOnly(element: XmlElement, names: readonly string[]): boolean {
  return element.attrs.every(({ name, namespaceUri }) => namespaceUri === '' && names.includes(name))
}
