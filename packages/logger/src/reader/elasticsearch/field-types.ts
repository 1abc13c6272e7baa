import type { Client } from '@elastic/elasticsearch'
import { type Criterion, fieldsOf } from '../criterion.js'

/** Type of a field that is nested only in some indices of a data stream. */
export const PARTLY_NESTED = 'partly nested'

/** Type of each field, if it is the same in all indices of the data stream. Other fields are absent. */
export type FieldTypes = ReadonlyMap<string, string>

/**
 * Requests the types of the criteria's fields from the cluster. They decide which criteria can be part of the
 * query, because older indices or foreign templates may have another mapping.
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

/** Returns a field and its parents. A member of a flattened field is only known by its parent. */
function withParents(field: string): string[] {
  const names = field.split('.')
  return names.map((_, i) => names.slice(0, i + 1).join('.'))
}
