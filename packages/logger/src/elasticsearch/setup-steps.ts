import type { Client } from '@elastic/elasticsearch'
import { statusOf } from './cluster-error.js'
import { mappingDifferences, templateDifferences } from './differences.js'
import { foreignTemplate, TEMPLATE_PRIORITY } from './foreign-template.js'
import { OPENSEARCH_MAPPING, TRAFFIC_MAPPING } from './mapping.js'

/** Data stream settings. */
export interface DataStreamOptions {
  readonly dataStream: string
  /** Retention in days, or null to keep records forever. */
  readonly retentionDays: number | null
  /** Product that the nodes run; default Elasticsearch. OpenSearch has no lifecycles of data streams. */
  readonly product?: 'elasticsearch' | 'opensearch'
  /** Replicas of each shard; 0 on a single node. */
  readonly replicas: number
  /** True if an operator requested the setup, false if a starting worker did; default false. */
  readonly isByHand?: boolean
}

/** A component of the data stream setup and the action it needs. */
export interface SetupStep {
  readonly what: 'index template' | 'data stream' | 'lifecycle' | 'rollover'
  readonly name: string
  /** Needed action. `conflict`: an unrelated template must be changed or deleted first. */
  readonly action: 'create' | 'change' | 'keep' | 'conflict'
  /** Lines such as `name: before -> after`, for users. */
  readonly differences: readonly string[]
  /** Request that carries out the action, or null if none is needed. */
  readonly request: {
    readonly method: 'PUT' | 'POST'
    readonly path: string
    readonly body: object | null
  } | null
}

/** Needed action of a step. */
type Need = Pick<SetupStep, 'action' | 'differences' | 'request'>

interface TemplateAnswer {
  readonly index_templates?: readonly { readonly index_template?: object }[]
}

interface Lifecycle {
  readonly enabled?: boolean
  readonly data_retention?: string
}

interface DataStreamAnswer {
  readonly data_streams?: readonly {
    /** Backing indices. The last one is the write index. */
    readonly indices?: readonly { readonly index_name: string }[]
    readonly lifecycle?: Lifecycle
  }[]
}

type MappingAnswer = Readonly<Record<string, { readonly mappings?: object }>>

const KEEP: Need = { action: 'keep', differences: [], request: null }
/**
 * Template members that take effect when an index is created. Changes of other members take effect
 * immediately.
 */
const OF_INDICES = /^template\.(settings|mappings)\./

/** Compares the cluster with the desired state and returns the necessary steps. Only reads from the cluster. */
export async function setupSteps(client: Client, options: DataStreamOptions): Promise<SetupStep[]> {
  const { dataStream: name, retentionDays, isByHand = false, product } = options
  const isOpenSearch = product === 'opensearch'
  const mapping = isOpenSearch ? OPENSEARCH_MAPPING : TRAFFIC_MAPPING
  const retention = retentionDays === null ? null : `${retentionDays}d`
  const ownTemplate = `${name}-template`
  const templatePath = `/_index_template/${encodeURIComponent(ownTemplate)}`
  const streamPath = `/_data_stream/${encodeURIComponent(name)}`
  const foreign = await foreignTemplate(client, name, { name: ownTemplate, mapping })
  const templates = await read<TemplateAnswer>(client, templatePath)
  const streams = await read<DataStreamAnswer>(client, streamPath)

  const current = templates?.index_templates?.[0]?.index_template ?? null
  const template = templateNeed(templatePath, current, templateOf(options, retention))
  const templateStep: SetupStep = { what: 'index template', name: ownTemplate, ...template }
  if (foreign !== null) {
    // With this template, the data stream or its next index would not accept records properly.
    const facts = `priority ${foreign.priority}, for ${foreign.patterns.join(', ')}`
    const differences = [facts, ...foreign.differences]
    const conflict = { action: 'conflict', differences, request: null } as const
    return [templateStep, { what: 'index template', name: foreign.name, ...conflict }]
  }
  const stream = streams?.data_streams?.[0]
  if (stream === undefined) {
    const request = { method: 'PUT', path: streamPath, body: null } as const
    return [templateStep, { what: 'data stream', name, action: 'create', differences: [], request }]
  }
  const steps: SetupStep[] = [templateStep, { what: 'data stream', name, ...KEEP }]
  if (!isOpenSearch)
    steps.push({ what: 'lifecycle', name, ...lifecycleNeed(streamPath, stream.lifecycle, retention) })
  const differences = await indexDifferences(client, stream.indices?.at(-1)?.index_name, mapping)
  // Settings and mappings of an index are fixed when it is created, so changes need a new one. If an operator
  // asks and the current index has wrong mappings, it is created now. Otherwise it is created with the next
  // record; with this lazy rollover, requests of many workers create only one index.
  // OpenSearch has no lazy rollover, so only an operator creates a new index there.
  const isNeeded = differences.length > 0 || hasNewIndices(template)
  if (isNeeded && (isByHand || !isOpenSearch)) {
    const isNow = isOpenSearch || (isByHand && differences.length > 0)
    const path = `/${encodeURIComponent(name)}/_rollover${isNow ? '' : '?lazy=true'}`
    const request = { method: 'POST', path, body: null } as const
    steps.push({ what: 'rollover', name, action: 'change', differences, request })
  }
  return steps
}

function templateOf({ dataStream, replicas, product }: DataStreamOptions, retention: string | null): object {
  const isOpenSearch = product === 'opensearch'
  return {
    index_patterns: [dataStream],
    data_stream: {},
    priority: TEMPLATE_PRIORITY,
    template: {
      settings: {
        'index.number_of_replicas': replicas,
        // Fields beyond the limit are stored but not indexed, so that no record is rejected because of them.
        'index.mapping.total_fields.limit': 500,
        ...(isOpenSearch ? {} : { 'index.mapping.total_fields.ignore_dynamic_beyond_limit': true }),
        'index.codec': 'best_compression',
        // The refresh interval is left unset. Elasticsearch then refreshes an index every second while it is
        // searched, and not otherwise, which saves work for every record.
      },
      mappings: isOpenSearch ? OPENSEARCH_MAPPING : TRAFFIC_MAPPING,
      ...(isOpenSearch ? {} : { lifecycle: lifecycleOf(retention) }),
    },
    _meta: { managed_by: 'sluice' },
  }
}

function lifecycleOf(retention: string | null): Lifecycle {
  return { enabled: true, ...(retention === null ? {} : { data_retention: retention }) }
}

function templateNeed(path: string, current: object | null, wanted: object): Need {
  const request = { method: 'PUT', path, body: wanted } as const
  if (current === null) return { action: 'create', differences: [], request }
  const differences = templateDifferences(current, wanted)
  return differences.length === 0 ? KEEP : { action: 'change', differences, request }
}

/**
 * Updates the lifecycle of an existing data stream. The lifecycle in the template only applies to new ones.
 */
function lifecycleNeed(streamPath: string, current: Lifecycle | undefined, retention: string | null): Need {
  const isManaged = current !== undefined && current.enabled !== false
  const before = isManaged ? (current.data_retention ?? 'forever') : 'none'
  const after = retention ?? 'forever'
  if (before === after) return KEEP
  const body = retention === null ? {} : { data_retention: retention }
  const request = { method: 'PUT', path: `${streamPath}/_lifecycle`, body } as const
  return { action: 'change', differences: [`retention: ${before} -> ${after}`], request }
}

/**
 * Returns the mapping differences of the write index. It may be older than our template, or created from
 * another one.
 */
async function indexDifferences(
  client: Client,
  index: string | undefined,
  mapping: object,
): Promise<readonly string[]> {
  if (index === undefined) return []
  const answer = await read<MappingAnswer>(client, `/${encodeURIComponent(index)}/_mapping`)
  return answer === null ? [] : mappingDifferences(answer[index]?.mappings ?? {}, mapping)
}

function hasNewIndices({ action, differences }: Need): boolean {
  return action === 'create' || differences.some((difference) => OF_INDICES.test(difference))
}

/** Returns the response, or null if the resource does not exist. */
async function read<Answer>(client: Client, path: string): Promise<Answer | null> {
  try {
    return await client.transport.request<Answer>({ method: 'GET', path })
  } catch (error) {
    if (statusOf(error) === 404) return null
    throw error
  }
}
