import { filled } from '../draft.js'
import type { Scope } from './scope.js'
import { bytesOf, sizeText, templateOf } from './values.js'

type Options = Readonly<Record<string, unknown>>

/** Fields that the gateway sets itself or that concern a single connection. */
const OWN_FIELDS =
  /^(host|upgrade|connection|x-forwarded-(for|proto|host)|content-length|transfer-encoding|keep-alive|te|date|server)$/
/** Maximum number of values that the policy `header` adds to one field. */
const MAX_VALUES = 20
const FIELD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const VALUE = /^[\x20-\x7e]*$/

/** Returns the options of the policy `header` for a location, or null if it changes no field. */
export function headerOptions(scope: Scope, isProxied: boolean): Options | null {
  const request = isProxied ? requestFields(scope) : undefined
  const response = responseFields(scope)
  return request === undefined && response === undefined ? null : { request, response }
}

function requestFields(scope: Scope): Options | undefined {
  const set: Record<string, string> = {}
  const remove: string[] = []
  for (const directive of scope.list('proxy_set_header', 'grpc_set_header')) {
    const [name = '', value = ''] = directive.args
    const field = name.toLowerCase()
    if (OWN_FIELDS.test(field)) continue
    const template = templateOf(value, scope)
    if (!FIELD.test(name)) scope.use.leaveOut(directive, 'the name is not valid')
    else if (template === null || !VALUE.test(template)) {
      remove.push(field)
      scope.use.warn(
        directive,
        'the value cannot be mapped; the field is removed, so that clients cannot set it',
        'use the policy header or script',
      )
    } else if (template === '') remove.push(field)
    else set[field] = template
  }
  const removed = [...new Set(remove)].filter((field) => !Object.hasOwn(set, field))
  return fieldChanges({ remove: filled(removed), set: filled(set) })
}

function responseFields(scope: Scope): Options | undefined {
  const append: Record<string, string[]> = {}
  const remove = scope
    .list('proxy_hide_header')
    .flatMap(({ args: [name = ''] }) => (FIELD.test(name) ? [name.toLowerCase()] : []))
  for (const directive of scope.list('add_header')) {
    const [name = '', value = ''] = directive.args
    const template = templateOf(value, scope)
    const isValid = FIELD.test(name) && !OWN_FIELDS.test(name.toLowerCase())
    if (!isValid || template === null || !VALUE.test(template))
      scope.use.leaveOut(directive, 'the name or value cannot be mapped', 'use the policy header or script')
    else if (template !== '') {
      const values = append[name.toLowerCase()] ?? []
      append[name.toLowerCase()] = [...values, template].slice(0, MAX_VALUES)
    }
  }
  return fieldChanges({ remove: filled(remove), append: filled(append) })
}

/** Returns changes, or undefined if there are none. */
function fieldChanges(changes: Options): Options | undefined {
  return Object.values(changes).some((one) => one !== undefined) ? changes : undefined
}

/** Returns the options of the policy `compress` for `gzip on`, or null. */
export function compressOptions(scope: Scope): Options | null {
  const types = scope.find('gzip_types')?.args ?? []
  const least = bytesOf(scope.value('gzip_min_length')) ?? 20
  const level = Number(scope.value('gzip_comp_level') ?? 1)
  if (scope.value('gzip') !== 'on') return null
  const media = types.filter((one) => /^[\w.+-]+\/[\w.+*-]+$/.test(one))
  return {
    codings: ['gzip'],
    types: types.includes('*') ? undefined : [...new Set(['text/html', ...media])],
    minBytes: sizeText(least),
    level: level < 4 ? 'fast' : level < 8 ? 'balanced' : 'small',
  }
}
