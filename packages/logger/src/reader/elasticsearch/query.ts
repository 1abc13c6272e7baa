import type { estypes } from '@elastic/elasticsearch'
import { type Criterion, type FieldCriterion, fieldsOf } from '../criterion.js'
import type { RecordFilter } from '../record-filter.js'
import type { TextPattern } from '../text-pattern.js'
import { type FieldTypes, PARTLY_NESTED } from './field-types.js'

type Query = estypes.QueryDslQueryContainer

/** Elasticsearch refuses longer ones unless `index.max_regex_length` says otherwise, UTF-16 units. */
const LONGEST_PREFIX = 1000
/** Longer values of a flattened field are not indexed by our mapping, and Elasticsearch does not note that. */
const LONGEST_FLATTENED = 1024
const LARGEST: ReadonlyMap<string, number> = new Map([
  ['byte', 127],
  ['short', 32_767],
  ['integer', 2_147_483_647],
  ['long', Number.MAX_SAFE_INTEGER],
  ['half_float', 65_504],
  ['float', 3.4e38],
  ['double', Number.MAX_VALUE],
])

/**
 * Asks for the records that a filter takes, and for some more where Elasticsearch is not exact, never for less:
 * what comes back is checked with the filter itself. A criterion that cannot be asked for is left out.
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

/** Items of a list that are documents of their own are asked as such; those that are in some parts only, not at all. */
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
  return query === null ? null : anyOf([{ nested: { path: list[0], query } }, notIndexed(fields[0]!)])
}

function plainQuery(criterion: FieldCriterion, types: FieldTypes): Query | null {
  switch (criterion.kind) {
    case 'equals':
      return allAsked(criterion.fields.map((field) => equalsQuery(field, criterion.value, types)))
    case 'matches':
      return allAsked(criterion.fields.map((field) => patternQuery(field, criterion.pattern, types)))
    case 'differs':
      // A list of values is indexed as each of them, so leaving out those with the value could leave out too much.
      return null
    case 'prefix':
      if (types.get(criterion.field) !== 'keyword' || criterion.value === '') return null
      return anyOf([
        { prefix: { [criterion.field]: shortened(criterion.value) } },
        notIndexed(criterion.field),
      ])
    case 'range':
      return rangeQuery(criterion.field, { gte: criterion.from, lte: criterion.to }, types)
    case 'compares': {
      const { field, by, bound } = criterion
      // Also for `>`: a float of the index is a rounded one, so what is greater may have become equal.
      return rangeQuery(field, by === '>' || by === '>=' ? { gte: bound } : { lte: bound }, types)
    }
  }
}

/** One of them, as far as all can be asked for; else null. */
function allAsked(queries: readonly (Query | null)[]): Query | null {
  const asked = queries.filter((query) => query !== null)
  return asked.length === queries.length ? anyOf(asked) : null
}

function patternQuery(field: string, { parts }: TextPattern, types: FieldTypes): Query | null {
  if (types.get(field) !== 'keyword') return null
  const value = parts.map((part) => part.replace(/[\\?*]/g, '\\$&')).join('*')
  return value.length > LONGEST_PREFIX
    ? null
    : anyOf([{ wildcard: { [field]: { value } } }, notIndexed(field)])
}

/** A pair of units that make one character stays whole. */
function shortened(prefix: string): string {
  return prefix.slice(0, LONGEST_PREFIX).replace(/[\ud800-\udbff]$/, '')
}

/** Null: not to be asked for. */
function equalsQuery(field: string, value: string, types: FieldTypes): Query | null {
  const type = types.get(field)
  if (type === undefined) return flattenedQuery(field, value, types)
  const term: Query = { term: { [field]: value } }
  if (type === 'keyword') return anyOf([term, notIndexed(field)])
  if (type === 'boolean') return value === 'true' || value === 'false' ? term : null
  if (type !== 'ip' && !LARGEST.has(type)) return null
  // Elasticsearch reads the value as it read that of the record; one that the field cannot hold fits nothing.
  return anyOf([{ match: { [field]: { query: value, lenient: true } } }, notIndexed(field)])
}

function flattenedQuery(field: string, value: string, types: FieldTypes): Query | null {
  const isMember = [...types].some(([parent, type]) => type === 'flattened' && field.startsWith(`${parent}.`))
  return isMember && value.length <= LONGEST_FLATTENED ? { term: { [field]: value } } : null
}

function rangeQuery(field: string, bounds: { gte?: number; lte?: number }, types: FieldTypes): Query | null {
  const largest = LARGEST.get(types.get(field) ?? '')
  if (largest === undefined) return null
  const within = (bound: number): number => Math.min(Math.max(bound, -largest), largest)
  const range = Object.fromEntries(Object.entries(bounds).map(([end, bound]) => [end, within(bound)]))
  return anyOf([{ range: { [field]: range } }, notIndexed(field)])
}

/** Elasticsearch notes which fields of a record it did not index, because they were too long or malformed. */
function notIndexed(field: string): Query {
  return { term: { _ignored: field } }
}

function anyOf(queries: readonly Query[]): Query {
  return { bool: { should: [...queries], minimum_should_match: 1 } }
}
