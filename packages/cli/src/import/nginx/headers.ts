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
  const request = isProxied ? requestFields(scope) : {}
  const response = responseFields(scope)
  const options = { ...(hasKeys(request) && { request }), ...(hasKeys(response) && { response }) }
  return hasKeys(options) ? options : null
}

function requestFields(scope: Scope): Options {
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
  return { ...(removed.length > 0 && { remove: removed }), ...(hasKeys(set) && { set }) }
}

function responseFields(scope: Scope): Options {
  const append: Record<string, string[]> = {}
  const remove = scope
    .list('proxy_hide_header')
    .flatMap(({ args: [name = ''] }) => (FIELD.test(name) ? [name.toLowerCase()] : []))
  for (const directive of scope.list('add_header')) {
    const [name = '', value = ''] = directive.args
    const template = templateOf(value, scope)
    if (
      !FIELD.test(name) ||
      OWN_FIELDS.test(name.toLowerCase()) ||
      template === null ||
      !VALUE.test(template)
    )
      scope.use.leaveOut(directive, 'the name or value cannot be mapped', 'use the policy header or script')
    else if (template !== '') {
      const values = append[name.toLowerCase()] ?? []
      append[name.toLowerCase()] = [...values, template].slice(0, MAX_VALUES)
    }
  }
  return { ...(remove.length > 0 && { remove }), ...(hasKeys(append) && { append }) }
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
    ...(!types.includes('*') && { types: [...new Set(['text/html', ...media])] }),
    minBytes: sizeText(least),
    level: level < 4 ? 'fast' : level < 8 ? 'balanced' : 'small',
  }
}

/** Returns the options of the policy `response-cache` for `proxy_cache`, or null. */
export function cacheOptions(scope: Scope): Options | null {
  const cache = scope.find('proxy_cache')
  const conditions = [...scope.list('proxy_no_cache'), ...scope.list('proxy_cache_bypass')]
  if (cache === undefined || cache.args[0] === 'off') return null
  if (conditions.length > 0) {
    for (const one of [cache, ...conditions])
      scope.use.leaveOut(
        one,
        'caching with conditions is not mapped, so nothing is cached',
        'use response-cache with when',
      )
    return null
  }
  for (const name of [
    'proxy_cache_valid',
    'proxy_cache_key',
    'proxy_cache_use_stale',
    'proxy_ignore_headers',
    'proxy_cache_methods',
    'proxy_cache_min_uses',
    'proxy_cache_background_update',
    'proxy_cache_revalidate',
  ])
    for (const one of scope.list(name))
      scope.use.leaveOut(
        one,
        'the cache follows the Cache-Control of the upstream',
        'use forced, key or staleIfError of response-cache',
      )
  return {}
}

function hasKeys(options: object): boolean {
  return Object.keys(options).length > 0
}
