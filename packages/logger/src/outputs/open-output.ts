import type { CustomOptions } from './custom/output.js'
import type { ElasticsearchOptions } from './elasticsearch/output.js'
import type { LogOutput, ReportProblem } from './output.js'
import type { SyslogOptions } from './syslog/options.js'
import type { WebhookOptions } from './webhook/options.js'

/** Options of each kind of output. */
interface OptionsByKind {
  readonly elasticsearch: ElasticsearchOptions
  readonly stdout: object
  readonly syslog: SyslogOptions
  readonly webhook: WebhookOptions
  readonly custom: CustomOptions
}

type Kind = keyof OptionsByKind
type OptionsOf<K extends Kind> = { readonly kind: K } & OptionsByKind[K]

/** Options of an output, with its kind. Structured-cloneable, so that they can be passed to a thread. */
export type LogOutputOptions = { [K in Kind]: OptionsOf<K> }[Kind]

type Opener<K extends Kind> = (options: OptionsByKind[K], report: ReportProblem) => Promise<LogOutput>

/**
 * Functions that open each kind of output. Modules are loaded on demand: the Elasticsearch client alone takes
 * about 100 ms.
 */
const OPENERS: { readonly [K in Kind]: Opener<K> } = {
  elasticsearch: async (options, report) =>
    new (await import('./elasticsearch/output.js')).ElasticsearchOutput(options, report),
  stdout: async () => new (await import('./stdout/output.js')).StdoutOutput(),
  syslog: async (options) => new (await import('./syslog/output.js')).SyslogOutput(options),
  webhook: async (options) => new (await import('./webhook/output.js')).WebhookOutput(options),
  custom: async (options, report) => new (await import('./custom/output.js')).CustomOutput(options, report),
}

/** Opens an output without sending anything. Rejects if the options are invalid. */
export function openOutput<K extends Kind>(options: OptionsOf<K>, report: ReportProblem): Promise<LogOutput> {
  return OPENERS[options.kind](options, report)
}
