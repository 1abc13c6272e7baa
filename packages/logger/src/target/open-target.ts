import type { CustomOptions } from './custom/options.js'
import { CustomTarget } from './custom/target.js'
import { type ElasticsearchOptions, ElasticsearchTarget } from './elasticsearch/target.js'
import { StdoutTarget } from './stdout/target.js'
import type { SyslogOptions } from './syslog/options.js'
import { SyslogTarget } from './syslog/target.js'
import type { LogTarget, TellProblem } from './target.js'
import type { WebhookOptions } from './webhook/options.js'
import { WebhookTarget } from './webhook/target.js'

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

const OPENERS: { readonly [K in Kind]: (options: OptionsByKind[K], tell: TellProblem) => LogTarget } = {
  elasticsearch: (options, tell) => new ElasticsearchTarget(options, tell),
  stdout: () => new StdoutTarget(),
  syslog: (options) => new SyslogTarget(options),
  webhook: (options) => new WebhookTarget(options),
  custom: (options, tell) => new CustomTarget(options, tell),
}

/** Opens a target; nothing is sent yet. @throws Error when its options cannot be used. */
export function openTarget<K extends Kind>(options: OptionsOf<K>, tell: TellProblem): LogTarget {
  return OPENERS[options.kind](options, tell)
}
