import type { CustomOptions } from './custom/options.js'
import type { ElasticsearchOptions } from './elasticsearch/target.js'
import type { SyslogOptions } from './syslog/options.js'
import type { LogTarget, ReportProblem } from './target.js'
import type { WebhookOptions } from './webhook/options.js'

/** What each kind of target is opened with. */
interface OptionsByKind {
  readonly elasticsearch: ElasticsearchOptions
  readonly stdout: object
  readonly syslog: SyslogOptions
  readonly webhook: WebhookOptions
  readonly custom: CustomOptions
}

type Kind = keyof OptionsByKind
type OptionsOf<K extends Kind> = { readonly kind: K } & OptionsByKind[K]

/** A target by its kind; plain data, so that it can be handed to a thread. */
export type TargetOptions = { [K in Kind]: OptionsOf<K> }[Kind]

type Opener<K extends Kind> = (options: OptionsByKind[K], report: ReportProblem) => Promise<LogTarget>

/** Each loads only what it needs: the client of Elasticsearch alone takes some 100 ms. */
const OPENERS: { readonly [K in Kind]: Opener<K> } = {
  elasticsearch: async (options, report) =>
    new (await import('./elasticsearch/target.js')).ElasticsearchTarget(options, report),
  stdout: async () => new (await import('./stdout/target.js')).StdoutTarget(),
  syslog: async (options) => new (await import('./syslog/target.js')).SyslogTarget(options),
  webhook: async (options) => new (await import('./webhook/target.js')).WebhookTarget(options),
  custom: async (options, report) => new (await import('./custom/target.js')).CustomTarget(options, report),
}

/** Opens a target; nothing is sent yet. Rejects when its options cannot be used. */
export function openTarget<K extends Kind>(options: OptionsOf<K>, report: ReportProblem): Promise<LogTarget> {
  return OPENERS[options.kind](options, report)
}
