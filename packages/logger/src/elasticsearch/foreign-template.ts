import type { Client } from '@elastic/elasticsearch'
import { mappingDifferences } from './differences.js'

/** Priority of our template. Elasticsearch's built-in template for `logs-*-*` has 100. */
export const TEMPLATE_PRIORITY = 500

/** Index template with a higher priority than ours that matches the data stream. */
export interface ForeignTemplate {
  readonly name: string
  readonly priority: number
  readonly patterns: readonly string[]
  /** Mapping differences that would make records unsuitable; never empty. */
  readonly differences: readonly string[]
}

interface Simulated {
  readonly template?: { readonly mappings?: object }
}

interface Templates {
  readonly index_templates?: readonly {
    readonly name: string
    readonly index_template: {
      readonly index_patterns: string | readonly string[]
      readonly priority?: number
      readonly data_stream?: object
    }
  }[]
}

/** Template members to fetch. */
const TEMPLATE_FILTER = ['index_patterns', 'priority', 'data_stream']
  .map((member) => `index_templates.index_template.${member}`)
  .join()

/**
 * Returns another template that overrides ours with unsuitable mappings, or null.
 * @param own Name and mapping of our template.
 */
export async function foreignTemplate(
  client: Client,
  dataStream: string,
  own: { readonly name: string; readonly mapping: object },
): Promise<ForeignTemplate | null> {
  const { index_templates: all = [] } = await client.transport.request<Templates>({
    method: 'GET',
    path: '/_index_template',
    querystring: { filter_path: `index_templates.name,${TEMPLATE_FILTER}` },
  })
  const [winner] = all
    .map(({ name, index_template: { index_patterns, priority = 0, data_stream } }) => {
      return { name, priority, patterns: [index_patterns].flat(), isForStreams: data_stream !== undefined }
    })
    .filter(
      ({ name, patterns }) => name !== own.name && patterns.some((pattern) => matches(pattern, dataStream)),
    )
    .sort((a, b) => b.priority - a.priority)
  if (winner === undefined || winner.priority <= TEMPLATE_PRIORITY) return null
  const { isForStreams, ...template } = winner
  if (!isForStreams) return { ...template, differences: ['it creates an index instead of a data stream'] }
  const simulated = await client.transport.request<Simulated>({
    method: 'POST',
    path: `/_index_template/_simulate_index/${encodeURIComponent(dataStream)}`,
  })
  const differences = mappingDifferences(simulated.template?.mappings ?? {}, own.mapping)
  return differences.length === 0 ? null : { ...template, differences }
}

/** Returns true if an index pattern matches a name. Only `*` is special. */
function matches(pattern: string, name: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[\\^$.+?()[\]{}|]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`).test(name)
}
