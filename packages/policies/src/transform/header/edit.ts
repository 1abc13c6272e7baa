import {
  appendHeader,
  type Exchange,
  type HeaderList,
  headerCount,
  plainName,
  removeHeader,
  removeHeadersWithPrefix,
  setHeader,
} from '@sluice/core'
import { fieldName, fieldPrefix } from '../../shared/message/field-name.js'
import { compileFieldValue, isUsableValue } from '../../shared/message/field-value.js'
import { BASIC_SECURITY_FIELDS } from '../../shared/message/security-presets.js'
import type { Side } from '../../shared/message/side.js'
import { removeLookalikes, removeLookalikesOfPrefix } from '../../shared/message/spoofed-fields.js'
import type { Render } from '../../shared/options/template.js'
import type { HeaderEdits } from './schema.js'

/**
 * A change to a header list. `x` provides template values. The list belongs to the request or the response.
 */
export type Edit = (list: HeaderList, x: Exchange) => void

/**
 * Compiles the changes of one side, in the order remove, rename, set, setIfAbsent, append.
 * @throws Error if a name or a value is not valid in a header.
 */
export function compileEdits(side: Side, config: HeaderEdits | undefined): Edit[] {
  if (config === undefined) return []
  return [
    ...(config.remove ?? []).map((written) => remove(side, written)),
    ...renames(side, config.rename ?? {}),
    ...perName(side, 'set', config.set ?? {}).map(([name, value]) =>
      withoutLookalikes(side, name, set(name, compileFieldValue(name, value))),
    ),
    ...perName(side, 'setIfAbsent', config.setIfAbsent ?? {}).map(([name, value]) =>
      setIfAbsent(name, compileFieldValue(name, value)),
    ),
    ...Object.entries(config.securityHeaders === true ? BASIC_SECURITY_FIELDS : {}).map(([name, value]) =>
      setIfAbsent(name, value),
    ),
    ...perName(side, 'append', config.append ?? {}).flatMap(([name, value]) =>
      [value].flat().map((each) => append(name, compileFieldValue(name, each))),
    ),
  ]
}

/**
 * Returns the entries with names in lower case. @throws Error if a name occurs twice, because one entry would
 * silently win.
 */
function perName<T>(side: Side, list: string, values: Readonly<Record<string, T>>): [string, T][] {
  const seen = new Set<string>()
  return Object.entries(values).map(([written, value]) => {
    const name = fieldName(side, written)
    const key = side === 'request' ? plainName(name) : name
    if (seen.has(key)) throw new Error(`'${name}' is listed twice under ${side}.${list}; keep one`)
    seen.add(key)
    return [name, value]
  })
}

function remove(side: Side, written: string): Edit {
  if (written.includes('*')) {
    if (!written.endsWith('*'))
      throw new Error(`'${written}' has a star in the middle; a star is only allowed at the end`)
    const prefix = fieldPrefix(side, written)
    if (side === 'request') return (list) => removeLookalikesOfPrefix(list, prefix)
    return (list) => removeHeadersWithPrefix(list, prefix)
  }
  const name = fieldName(side, written)
  return withoutLookalikes(side, name, (list) => removeHeader(list, name))
}

/** Also removes spellings that an upstream could mistake for the field, such as `x_user` for `x-user`. */
function withoutLookalikes(side: Side, name: string, edit: Edit): Edit {
  if (side === 'response' || !/[-_]/.test(name)) return edit
  return (list, x) => {
    edit(list, x)
    removeLookalikes(list, name)
  }
}

function renames(side: Side, names: Readonly<Record<string, string>>): Edit[] {
  const pairs = perName(side, 'rename', names).map(([from, to]) => [from, fieldName(side, to)] as const)
  const chained = pairs.find(([, to]) => pairs.some(([from]) => from === to))
  if (chained !== undefined)
    throw new Error(`'${chained[1]}' is both an old and a new name under ${side}.rename; use distinct names`)
  return pairs.map(
    ([from, to]) =>
      (list) =>
        rename(side, list, { from, to }),
  )
}

/** Renames a field. Existing lines with the new name are removed, so that a client cannot add its own. */
function rename(
  side: Side,
  list: HeaderList,
  { from, to }: { readonly from: string; readonly to: string },
): void {
  if (headerCount(list, from) === 0) return
  removeHeader(list, to)
  for (let i = 0; i < list.length; i += 2) {
    if (list[i] === from) list[i] = to
  }
  if (side === 'request') removeLookalikes(list, to)
}

function set(name: string, value: string | Render): Edit {
  if (typeof value === 'string') return (list) => setHeader(list, name, value)
  return (list, x) => {
    const rendered = value(x)
    if (isUsableValue(rendered)) setHeader(list, name, rendered)
    else removeHeader(list, name)
  }
}

function setIfAbsent(name: string, value: string | Render): Edit {
  const add = append(name, value)
  return (list, x) => {
    if (headerCount(list, name) === 0) add(list, x)
  }
}

function append(name: string, value: string | Render): Edit {
  if (typeof value === 'string') return (list) => appendHeader(list, name, value)
  return (list, x) => {
    const rendered = value(x)
    if (isUsableValue(rendered)) appendHeader(list, name, rendered)
  }
}
