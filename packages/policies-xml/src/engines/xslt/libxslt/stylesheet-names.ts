import type { XmlAttribute, XmlDocument, XmlElement } from 'libxml2-wasm'
import { buildXml, element } from '../../xml/xml-builder.js'
import { isXPathFunction, wordsOf } from '../../xml/xpath-words.js'
import { XSL } from '../stylesheet.js'

const PREFIXES = { xsl: XSL, func: 'http://exslt.org/functions' }

/** Attributes of XSLT 1.0 that are expressions or patterns. All others may contain expressions in braces. */
const EXPRESSIONS = new Set(['select', 'test', 'match', 'use', 'count', 'from', 'value'])
/** Functions that XSLT 1.0 adds to those of XPath (section 12). */
const XSLT_FUNCTIONS = new Set(
  'document key format-number current unparsed-entity-uri generate-id system-property element-available function-available'.split(
    ' ',
  ),
)

/** XPath of the elements except user data: elements of other namespaces at the top level (XSLT 1.0 section 2.2). */
const CODE =
  '//*[not(ancestor-or-self::*[parent::xsl:stylesheet or parent::xsl:transform][not(self::xsl:*) and not(self::func:*)])]'

const CAUTIOUS = "//@*[contains(., 'function-available')] | /xsl:*[number(@version) != 1]"

type NameKind = 'variable' | 'template' | 'attribute set' | 'function'

/** A name in a stylesheet, as `{namespace}local`, with its location. */
export interface UsedName {
  readonly kind: NameKind
  readonly name: string
  /** Name as written, with its location. */
  readonly location: string
}

/**
 * Names that a module of an XSLT 1.0 stylesheet declares for all modules, and the names that it uses but does not
 * declare locally.
 */
export interface StylesheetNames {
  /** Kind and name, such as `variable {}a`. */
  readonly declared: ReadonlySet<string>
  readonly used: readonly UsedName[]
  /**
   * True if the stylesheet tests for functions before calling them, or has a newer version. Missing functions may
   * never be called then.
   */
  readonly isCautious: boolean
}

/**
 * Collects the names that libxslt would look up at run time.
 * @param what name of the stylesheet in messages.
 * @throws Error for an undeclared prefix
 */
export function namesOf(document: XmlDocument, what: string): StylesheetNames {
  const declared = new Set<string>()
  const declare = (kind: NameKind, path: string): void => {
    for (const attribute of document.find(path, PREFIXES) as XmlAttribute[])
      declared.add(`${kind} ${expanded(attribute.value.trim(), attribute.parent as XmlElement)}`)
  }
  declare('variable', '/*/xsl:variable/@name | /*/xsl:param/@name')
  declare('template', '/*/xsl:template/@name')
  declare('attribute set', '/*/xsl:attribute-set/@name')
  declare('function', '//func:function/@name')
  const used = document.find(CODE, PREFIXES).flatMap((node) => usedBy(node as XmlElement, what))
  const isCautious = document.get(CAUTIOUS, PREFIXES) !== null
  return { declared, used, isCautious }
}

function usedBy(element: XmlElement, what: string): UsedName[] {
  const isXsl = element.namespaceUri === XSL
  const location = (name: string): string => `'${name}' (${what}, line ${element.line})`
  const names: UsedName[] = []
  const use = (kind: NameKind, name: string, shown = name): void =>
    void names.push({ kind, name: expanded(name, element), location: location(shown) })
  for (const { name, value, namespaceUri } of element.attrs) {
    if (isXsl && name === 'name' && element.name === 'call-template') use('template', value.trim())
    if (name === 'use-attribute-sets' && (isXsl || namespaceUri === XSL))
      for (const set of value.split(/\s+/).filter((each) => each !== '')) use('attribute set', set)
    for (const expression of isXsl && EXPRESSIONS.has(name) ? [value] : embedded(value)) {
      const { functions, variables, prefixes } = wordsOf(expression)
      for (const prefix of prefixes) {
        if (prefix !== 'xml' && element.namespaceForPrefix(prefix) === null)
          throw new Error(`no namespace is declared for the prefix ${location(prefix)}`)
      }
      for (const called of functions)
        if (!isXPathFunction(called) && !XSLT_FUNCTIONS.has(called)) use('function', called, `${called}()`)
      if (variables.size === 0) continue
      const local = variablesBefore(element)
      for (const variable of variables)
        if (!local.has(expanded(variable, element))) use('variable', variable, `$${variable}`)
    }
  }
  return names
}

/** Returns the expressions in braces of an attribute value template (XSLT 1.0 section 7.6.2). */
function embedded(value: string): string[] {
  if (!value.includes('{')) return []
  const found = value.matchAll(/\{\{|\}\}|\{((?:[^{}"']|"[^"]*"|'[^']*')*)\}/g)
  return [...found].flatMap(([, expression]) => (expression === undefined ? [] : [expression]))
}

/** Returns the local variables and parameters in scope at an element (XSLT 1.0 section 11.5). */
function variablesBefore(element: XmlElement): ReadonlySet<string> {
  const path =
    'ancestor-or-self::*[not(parent::xsl:stylesheet or parent::xsl:transform)]/preceding-sibling::*[self::xsl:variable or self::xsl:param]'
  const seen = element.find(path, PREFIXES) as XmlElement[]
  return new Set(seen.map((each) => expanded(each.attr('name')?.value.trim() ?? '', each)))
}

/** Expands a name. Names without a prefix have no namespace, regardless of the default (XSLT 1.0 section 2.4). */
function expanded(name: string, owner: XmlElement): string {
  const colon = name.indexOf(':')
  if (colon < 0) return `{}${name}`
  return `{${owner.namespaceForPrefix(name.slice(0, colon)) ?? ''}}${name.slice(colon + 1)}`
}

/**
 * Refuses names that no module of a stylesheet declares.
 * @param params global parameters that are passed, as `name` or `{namespace}name`.
 * @returns functions that only libxslt can know.
 * @throws Error with the name and its location
 */
export function refuseUndeclared(modules: readonly StylesheetNames[], params: readonly string[]): UsedName[] {
  const declared = new Set(modules.flatMap((names) => [...names.declared]))
  for (const name of params) declared.add(`variable ${name.startsWith('{') ? name : `{}${name}`}`)
  const missing = modules
    .flatMap(({ used }) => used)
    .filter(({ kind, name }) => !declared.has(`${kind} ${name}`))
  const wrong = missing.find(({ kind }) => kind !== 'function')
  if (wrong !== undefined) throw new Error(`there is no ${wrong.kind} ${wrong.location}`)
  return modules.some(({ isCautious }) => isCautious) ? [] : missing
}

/** Returns a stylesheet that prints those of these functions that the engine does not have, one per line. */
export function probeOf(functions: readonly UsedName[]): string {
  const tests = functions.map(({ name, location }) => {
    const [, namespace = '', local = ''] = /^\{(.*)\}(.*)$/s.exec(name) ?? []
    const test = `not(function-available('${namespace === '' ? '' : 'f:'}${local}'))`
    const attributes = namespace === '' ? { test } : { 'xmlns:f': namespace, test }
    return element('xsl:if', [element('xsl:text', `${location}\n`)], attributes)
  })
  const content = [
    element('xsl:output', [], { method: 'text' }),
    element('xsl:template', tests, { match: '/' }),
  ]
  return buildXml(element('xsl:stylesheet', content, { version: '1.0', 'xmlns:xsl': XSL }))
}
