import type { JsonObject } from '../../engines/json/strict-json.js'
import type { Assertion } from './assertion.js'
import { NAME_ID } from './schema.js'

/** An attribute of one value is a text, one of several a list. The NameID is no attribute, whatever these are called. */
export function claimsOf({ nameId, attributes }: Assertion): JsonObject {
  const values = new Map<string, string[]>()
  for (const [name, texts] of attributes) values.set(name, [...(values.get(name) ?? []), ...texts])
  const claims = [...values].map(([name, texts]) => [name, texts.length === 1 ? texts[0] : texts] as const)
  return Object.fromEntries([...claims, [NAME_ID, nameId]])
}
