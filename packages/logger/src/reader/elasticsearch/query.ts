import type { Client, estypes } from '@elastic/elasticsearch'
import { type Criterion, type FieldCriterion, fieldsOf, type TextPattern } from '../criterion.js'
import type { RecordFilter } from '../record-filter.js'
import type { SnapshotOptions } from './snapshot.js'

type Query = estypes.QueryDslQueryContainer

/**
 * Maximum length of a pattern in UTF-16 units. Elasticsearch rejects longer ones by default
 * (`index.max_regex_length`).
 */
const MAX_PREFIX_LENGTH = 1000
/**
 * Maximum length of an indexed value. Elasticsearch does not mark longer ones in flattened fields as ignored,
 * OpenSearch none at all.
 */
const MAX_INDEXED_LENGTH = 1024
/** Type of a keyword field in OpenSearch. */
const UNMARKED_KEYWORD = 'keyword without marks of ignored values'
const LARGEST: ReadonlyMap<string, number> = new Map([
  ['byte', 127],
  ['short', 32_767],
  ['integer', 2_147_483_647],
  ['long', Number.MAX_SAFE_INTEGER],
  ['half_float', 65_504],
  ['float', 3.4e38],
  ['double', Number.MAX_VALUE],
])
const FLOATS: ReadonlySet<string> = new Set(['half_float', 'float', 'double'])

/**
 * Translates a filter to a query. The query may match more records than the filter, but never fewer. Results
 * must be checked with the filter. Criteria that cannot be translated are omitted.
 */
export function queryOf({ criteria, sinceMs, untilMs }: RecordFilter, types: FieldTypes): Query {
  const filter: Query[] = []
  const range = {
    ...(sinceMs === null ? {} : { gte: sinceMs }),
    ...(untilMs === null ? {} : { lt: untilMs }),
  }
  if (Object.keys(range).length > 0) {
    filter.push({ range: { '@timestamp': { ...range, format: 'epoch_millis' } } })
  }
  for (const criterion of criteria) {
    const query = criterionQuery(criterion, types)
    if (query !== null) filter.push(query)
  }
  return { bool: { filter } }
}

/** True if a criterion can be translated to a query that matches no other records, except for `notIndexed`. */
export function isTranslatable(criterion: Criterion, types: FieldTypes): boolean {
  return criterionQuery(criterion, types) !== null
}

/**
 * Translates a criterion, or returns null. Items of nested lists need nested queries. Lists that are nested
 * in some indices only cannot be queried.
 */
function criterionQuery(criterion: Criterion, types: FieldTypes): Query | null {
  if (criterion.kind === 'any') return allAsked(criterion.of.map((one) => criterionQuery(one, types)))
  const fields = fieldsOf(criterion)
  const lists = [...types].filter(
    ([path, type]) =>
      (type === 'nested' || type === PARTLY_NESTED) && fields.some((field) => field.startsWith(`${path}.`)),
  )
  const [list, ...others] = lists
  if (list === undefined) return plainQuery(criterion, types)
  if (others.length > 0 || fields.length > 1 || list[1] === PARTLY_NESTED) return null
  const query = plainQuery(criterion, types)
  if (query === null) return null
  const nested = { nested: { path: list[0], query } }
  // The document itself has no items, so a query for documents without the field would match all.
  return types.get(fields[0]!) === UNMARKED_KEYWORD ? nested : anyOf([nested, notIndexed(fields[0]!, types)])
}

function plainQuery(criterion: FieldCriterion, types: FieldTypes): Query | null {
  switch (criterion.kind) {
    case 'equals':
      return allAsked(criterion.fields.map((field) => equalsQuery(field, criterion.value, types)))
    case 'matches':
      return allAsked(criterion.fields.map((field) => patternQuery(field, criterion.pattern, types)))
    case 'differs':
      // A list is indexed as its individual values, so excluding matching documents could exclude too many.
      return null
    case 'prefix':
      if (!isKeyword(types.get(criterion.field)) || criterion.value === '') return null
      return anyOf([
        { prefix: { [criterion.field]: shortened(criterion.value) } },
        notIndexed(criterion.field, types),
      ])
    case 'range':
      return rangeQuery(criterion.field, { gte: criterion.from, lte: criterion.to }, types)
    case 'compares': {
      const { field, by, bound } = criterion
      const type = types.get(field) ?? ''
      // Inclusive even for `>` if the bound is shortened, or for a float: rounding may have made it equal to the bound.
      const isStrict = !by.endsWith('=') && !FLOATS.has(type) && Math.abs(bound) <= (LARGEST.get(type) ?? 0)
      const end = `${by.startsWith('>') ? 'g' : 'l'}t${isStrict ? '' : 'e'}` as const
      return rangeQuery(field, { [end]: bound }, types)
    }
  }
}

/** Combines alternatives, or returns null if one of them cannot be translated. */
function allAsked(queries: readonly (Query | null)[]): Query | null {
  const asked = queries.filter((query) => query !== null)
  return asked.length === queries.length ? anyOf(asked) : null
}

function patternQuery(field: string, { parts }: TextPattern, types: FieldTypes): Query | null {
  if (!isKeyword(types.get(field))) return null
  const value = parts.map((part) => part.replace(/[\\?*]/g, '\\$&')).join('*')
  return value.length > MAX_PREFIX_LENGTH
    ? null
    : anyOf([{ wildcard: { [field]: { value } } }, notIndexed(field, types)])
}

/** Truncates a prefix without splitting a surrogate pair. */
function shortened(prefix: string): string {
  return prefix.slice(0, MAX_PREFIX_LENGTH).replace(/[\ud800-\udbff]$/, '')
}

/** Returns null if the field cannot be queried for the value. */
function equalsQuery(field: string, value: string, types: FieldTypes): Query | null {
  const type = types.get(field)
  if (type === undefined) return flattenedQuery(field, value, types)
  const term: Query = { term: { [field]: value } }
  if (type === UNMARKED_KEYWORD && value.length <= MAX_INDEXED_LENGTH) return term
  if (isKeyword(type)) return anyOf([term, notIndexed(field, types)])
  if (type === 'boolean') return value === 'true' || value === 'false' ? term : null
  if (type !== 'ip' && !LARGEST.has(type)) return null
  // Elasticsearch parses the value like those in records. A value that the field type cannot represent
  // matches nothing.
  return anyOf([{ match: { [field]: { query: value, lenient: true } } }, notIndexed(field, types)])
}

function flattenedQuery(field: string, value: string, types: FieldTypes): Query | null {
  const isMember = [...types].some(([parent, type]) => type === 'flattened' && field.startsWith(`${parent}.`))
  return isMember && value.length <= MAX_INDEXED_LENGTH ? { term: { [field]: value } } : null
}

function rangeQuery(
  field: string,
  bounds: Readonly<Record<string, number>>,
  types: FieldTypes,
): Query | null {
  const largest = LARGEST.get(types.get(field) ?? '')
  if (largest === undefined) return null
  const within = (bound: number): number => Math.min(Math.max(bound, -largest), largest)
  const range = Object.fromEntries(Object.entries(bounds).map(([end, bound]) => [end, within(bound)]))
  return anyOf([{ range: { [field]: range } }, notIndexed(field, types)])
}

function isKeyword(type: string | undefined): boolean {
  return type === 'keyword' || type === UNMARKED_KEYWORD
}

/**
 * Matches documents in which a field was not indexed because its value was too long or malformed. For
 * keywords in OpenSearch, also those without the field.
 */
export function notIndexed(field: string, types: FieldTypes): Query {
  if (types.get(field) === UNMARKED_KEYWORD) return { bool: { must_not: { exists: { field } } } }
  return { term: { _ignored: field } }
}

function anyOf(queries: readonly Query[]): Query {
  return { bool: { should: [...queries], minimum_should_match: 1 } }
}

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
  { dataStream, product }: SnapshotOptions,
  { criteria, signal }: { readonly criteria: readonly Criterion[]; readonly signal: AbortSignal },
): Promise<FieldTypes> {
  const types = new Map<string, string>()
  const fields = [...new Set(criteria.flatMap(fieldsOf).flatMap(withParents))]
  if (fields.length === 0) return types
  // OpenSearch reads the fields from the query only, unlike `client.fieldCaps`.
  const answer = await client.transport.request<estypes.FieldCapsResponse>(
    {
      method: 'GET',
      path: `/${encodeURIComponent(dataStream)}/_field_caps`,
      querystring: { fields, include_unmapped: true },
    },
    { signal },
  )
  for (const [field, capabilities] of Object.entries(answer.fields)) {
    const kinds = Object.values(capabilities)
    if (kinds.some(({ type }) => type === 'nested'))
      types.set(field, kinds.length === 1 ? 'nested' : PARTLY_NESTED)
    const [only, ...others] = kinds
    if (only === undefined || others.length > 0 || only.metadata_field || !only.searchable) continue
    const isUnmarked = product === 'opensearch' && only.type === 'keyword'
    types.set(field, isUnmarked ? UNMARKED_KEYWORD : only.type)
  }
  return types
}

/** Returns a field and its parents. A member of a flattened field is only known by its parent. */
function withParents(field: string): string[] {
  const names = field.split('.')
  return names.map((_, i) => names.slice(0, i + 1).join('.'))
}
