import type { Exchange } from '@sluice/core'
import { compileTemplate, type Render } from '@sluice/policies/shared/options/template'
import type { XsltConfig } from './schema.js'

/** Type of a stylesheet parameter. */
export type ParamType = 'string' | 'number' | 'boolean'

/** A parameter with its value for one request, as valid text of its type. Can be cloned. */
export interface ParamValue {
  readonly name: string
  readonly type: ParamType
  readonly value: string
}

/** Returns the parameter values for a request, or a text that says which value is invalid. */
export type Params = (x: Exchange) => readonly ParamValue[] | string

interface Param {
  readonly name: string
  readonly type: ParamType
  readonly value: string | Render
}

/** Matches a parameter name (NCName), optionally preceded by `{namespace}`. */
const NAME = /^(?:\{[^{}]{1,256}\})?[A-Za-z_][\w.-]{0,127}$/
/** Matches an XPath number. */
const NUMBER = /^-?\d{1,40}(?:\.\d{1,40})?$/
/** Matches characters that XML 1.0 does not allow. */
const NOT_XML = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/u

/** Range of letters that are one UTF-16 unit each: Latin Extended-A up to the surrogates. */
const FIRST_LETTER = 0x100
const LAST_LETTER = 0xd7ff

/**
 * Compiles stylesheet parameters. Values that depend on the request are checked per request.
 * @throws Error for an invalid name or fixed value.
 */
export function compileParams(config: XsltConfig['params']): Params {
  const params = Object.entries(config ?? {}).map(([name, { type = 'string', value }]): Param => {
    if (!NAME.test(name)) throw new Error(`'${name}' is not a valid parameter name`)
    return { name, type, value: compileTemplate(value) }
  })
  const fixed = params.filter(({ value }) => typeof value === 'string') as ParamValue[]
  for (const param of fixed) {
    if (param.value !== '' && !fits(param))
      throw new Error(`the value of the parameter '${param.name}' is not a ${param.type}`)
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

/**
 * Returns alternating names and XPath 1.0 expressions. A string is always a literal, so no part of it is
 * evaluated.
 */
export function xpathParams(values: readonly ParamValue[]): string[] {
  return values.flatMap(({ name, type, value }) => [name, expressionOf(type, value)])
}

function expressionOf(type: ParamType, value: string): string {
  if (type === 'number') return value
  return type === 'boolean' ? `${value}()` : literal(value)
}

/**
 * Returns an XPath string literal, which has no escape for its own quotes. If the string contains both kinds,
 * another character replaces one of them. A concatenation of many parts would overflow the stack of libxslt.
 */
function literal(text: string): string {
  if (!text.includes("'")) return `'${text}'`
  if (!text.includes('"')) return `"${text}"`
  const other = absentFrom(text)
  return `translate("${text.replaceAll('"', other)}", '${other}', '"')`
}

/** Returns a character that the text does not contain. Header fields are too short to contain all of them. */
function absentFrom(text: string): string {
  const taken = new Set(text)
  for (let code = FIRST_LETTER; code <= LAST_LETTER; code++) {
    const character = String.fromCharCode(code)
    if (!taken.has(character)) return character
  }
  throw new RangeError('a parameter has both kinds of quotes and every possible replacement character')
}
