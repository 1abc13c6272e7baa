import type { Client } from '@elastic/elasticsearch'
import { type Criterion, fieldsOf } from '../criterion.js'

/** A field whose items are documents of their own in some parts of a data stream only. */
export const PARTLY_NESTED = 'partly nested'

/** How the cluster indexes a field in every part of the data stream; what is absent cannot be relied on. */
export type FieldTypes = ReadonlyMap<string, string>

/**
 * Asks the cluster how it indexes the fields of the criteria. Its answer decides what it can be asked for, because an
 * older part of a data stream may have another mapping than the newest, and somebody else may have made it.
 */
export async function fieldTypes(
  client: Client,
  dataStream: string,
  { criteria, signal }: { readonly criteria: readonly Criterion[]; readonly signal: AbortSignal },
): Promise<FieldTypes> {
  const types = new Map<string, string>()
  const fields = [...new Set(criteria.flatMap(fieldsOf).flatMap(withParents))]
  if (fields.length === 0) return types
  const answer = await client.fieldCaps({ index: dataStream, fields, include_unmapped: true }, { signal })
  for (const [field, capabilities] of Object.entries(answer.fields)) {
    const kinds = Object.values(capabilities)
    if (kinds.some(({ type }) => type === 'nested'))
      types.set(field, kinds.length === 1 ? 'nested' : PARTLY_NESTED)
    const [only, ...others] = kinds
    if (only === undefined || others.length > 0 || only.metadata_field || !only.searchable) continue
    types.set(field, only.type)
  }
  return types
}

/** A member of a flattened field is known by that field alone. */
function withParents(field: string): string[] {
  const names = field.split('.')
  return names.map((_, i) => names.slice(0, i + 1).join('.'))
}
