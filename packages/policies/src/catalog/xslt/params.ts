import type { Exchange } from '@sluice/core'
import { compileTemplate, type Render } from '../../shared/template.js'
import type { XsltConfig } from './schema.js'

export type ParamType = 'string' | 'number' | 'boolean'

/** A parameter with its value for one request, as text that is of its type. It can be cloned. */
export interface ParamValue {
  readonly name: string
  readonly type: ParamType
  readonly value: string
}

/** The values for one request; a text says which one cannot be used. */
export type Params = (x: Exchange) => readonly ParamValue[] | string

interface Param {
  readonly name: string
  readonly type: ParamType
  readonly value: string | Render
}

/** Names of parameters (NCName), with `{namespace}` before them if need be. */
const NAME = /^(?:\{[^{}]{1,256}\})?[A-Za-z_][\w.-]{0,127}$/
/** A number as XPath writes it. */
const NUMBER = /^-?\d{1,40}(?:\.\d{1,40})?$/
/** What XML 1.0 has no place for. */
const NOT_XML = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/u

/** Letters of one UTF-16 unit each: from Latin Extended-A to before the surrogates. */
const FIRST_LETTER = 0x100
const LAST_LETTER = 0xd7ff

/**
 * Compiles the parameters of a stylesheet. Values that depend on the request are checked for each request.
 * @throws Error for a name or a fixed value that cannot be used.
 */
export function compileParams(config: XsltConfig['params']): Params {
  const params = Object.entries(config ?? {}).map(([name, { type = 'string', value }]): Param => {
    if (!NAME.test(name)) throw new Error(`'${name}' is not the name of a parameter`)
    return { name, type, value: compileTemplate(value) }
  })
  const fixed = params.filter(({ value }) => typeof value === 'string') as ParamValue[]
  for (const param of fixed) {
    if (param.value !== '' && !fits(param))
      throw new Error(`the parameter '${param.name}' is not a ${param.type}`)
  }
  if (fixed.length === params.length) {
    const values = fixed.filter(({ value }) => value !== '').map(canonical)
    return () => values
  }
  return (x) => rendered(params, x)
}

function rendered(params: readonly Param[], x: Exchange): readonly ParamValue[] | string {
  const values: ParamValue[] = []
  for (const { name, type, value } of params) {
    const param = { name, type, value: typeof value === 'string' ? value : value(x) }
    if (param.value === '') continue
    if (!fits(param)) return `a value for the parameter '${name}' is not a ${type}`
    values.push(canonical(param))
  }
  return values
}

function fits({ type, value }: ParamValue): boolean {
  if (type === 'string') return !NOT_XML.test(value)
  return type === 'number' ? NUMBER.test(value) : /^(?:true|false|1|0)$/.test(value)
}

function canonical(param: ParamValue): ParamValue {
  if (param.type !== 'boolean') return param
  return { ...param, value: param.value === 'true' || param.value === '1' ? 'true' : 'false' }
}

/** Names and XPath 1.0 expressions in turn. A string is always a literal: nothing in it is ever an expression. */
export function xpathParams(values: readonly ParamValue[]): string[] {
  return values.flatMap(({ name, type, value }) => [name, expressionOf(type, value)])
}

function expressionOf(type: ParamType, value: string): string {
  if (type === 'number') return value
  return type === 'boolean' ? `${value}()` : literal(value)
}

/**
 * A literal has no escape for its own quotes. In a string with both kinds another character stands for one of them:
 * put together from parts, a string of many quotes would overflow the stack of libxslt.
 */
function literal(text: string): string {
  if (!text.includes("'")) return `'${text}'`
  if (!text.includes('"')) return `"${text}"`
  const other = absentFrom(text)
  return `translate("${text.replaceAll('"', other)}", '${other}', '"')`
}

/** A character that the text does not have. Header fields are far too short to have all of these. */
function absentFrom(text: string): string {
  const taken = new Set(text)
  for (let code = FIRST_LETTER; code <= LAST_LETTER; code++) {
    const character = String.fromCharCode(code)
    if (!taken.has(character)) return character
  }
  throw new RangeError('a parameter has both kinds of quotes and every letter there is')
}
