import { type DocumentSource, formatDiff } from '@sluice/config'
import { visibleText } from '@sluice/core'
import type { Tier } from '@sluice/gateway'
import { checkForElsewhere, readDocument } from '../input/document.js'
import type { DocumentOptions } from '../input/options.js'
import { type Cluster, nameOf } from '../kubernetes/cluster/cluster.js'
import { documentChanges } from '../kubernetes/deploy/document-changes.js'
import {
  type DeployOutcome,
  type DeployPlan,
  type DeployRequest,
  GatewayDeploy,
  objectsOf,
  outcomeText,
} from '../kubernetes/deploy/gateway-deploy.js'
import { changeLines, type ObjectChange } from '../kubernetes/deploy/object-changes.js'
import {
  contentOf,
  type PodSettings,
  type Revision,
  readRevisions,
  rolledBackRevisions,
} from '../kubernetes/deploy/revisions.js'
import { chartValues } from '../kubernetes/objects/chart-facts.js'
import type { GatewayObjects } from '../kubernetes/objects/gateway-objects.js'
import {
  type KubernetesObject,
  type ObjectIdentity,
  objectsYaml,
  plainYaml,
  present,
} from '../kubernetes/objects/object.js'
import { EXIT, type ExitCode, Failure, usageError } from '../output/failure.js'
import { complain, isTable, print, printData, printValue, say } from '../output/output.js'
import { countText } from '../output/text.js'
import { version } from '../output/version.js'
import { costValue, totalCostText } from './deploy.js'
import { identityOf, type KubernetesOptions, TIMEOUT_MS, withCluster } from './kubernetes-options.js'
import { sayRollback } from './rollback-text.js'

interface DeployOptions extends DocumentOptions, KubernetesOptions {
  readonly tier?: Tier
  readonly replicas?: number
  readonly maxReplicas?: number
  readonly image?: string
  readonly secret?: string
  readonly dryRun?: boolean
  readonly prune?: boolean
  readonly force?: boolean
  readonly render?: boolean
  readonly helmValues?: boolean
  readonly note?: string
}

/** Deploys a document to a cluster, and waits until all pods confirm it. */
export async function deployKubernetes(options: DeployOptions): Promise<number | void> {
  const { text } = await checkedDocument(options)
  if (options.helmValues === true) return renderValues(text)
  if (options.render === true) return render(text, options)
  return withCluster(options, async (cluster, identity) => {
    const settings = await settingsOf(options, cluster, identity)
    return execute(deployOf(cluster, { text, settings, identity }, options), options)
  })
}

/** Prints the changes that a deployment of this document would make. */
export async function diffKubernetes(
  options: DeployOptions & { readonly exitCode?: boolean },
): Promise<number> {
  const { text } = await checkedDocument(options)
  return withCluster(options, async (cluster, identity) => {
    const settings = await settingsOf(options, cluster, identity)
    const plan = await deployOf(cluster, { text, settings, identity }, options).plan()
    const isSame = plan.changes.every(({ kind }) => kind === 'none')
    await printPlan(plan, options)
    return !isSame && options.exitCode === true ? EXIT.differences : EXIT.ok
  })
}

/** @throws Failure for errors that need no cluster to detect. */
async function checkedDocument(options: DeployOptions): Promise<DocumentSource> {
  const source = await readDocument(options.config)
  await checkForElsewhere(source)
  // Omitted options may be set by an earlier deployment.
  offlineObjects(source.text, { ...PLACEHOLDERS, ...options })
  return source
}

/** Maximum total size of an object's annotations, in bytes. */
const MAX_ANNOTATION_BYTES = 256 * 1024
const PLACEHOLDERS = { replicas: 1, secret: 'placeholder' }

/** Builds the objects from the command line only. */
function offlineObjects(text: string, options: DeployOptions): GatewayObjects {
  return objectsOf({ text, settings: podSettings(options) }, identityOf(options, 'default'))
}

/** True if an object is too large for the annotation that `kubectl apply` writes without `--server-side`. */
function isTooLargeForApply(object: KubernetesObject): boolean {
  return Buffer.byteLength(JSON.stringify(object)) >= MAX_ANNOTATION_BYTES
}

/** Prints the objects that a first deployment would apply. */
function render(text: string, options: DeployOptions): void {
  const { objects, notes } = offlineObjects(text, options)
  for (const note of notes) say(note)
  for (const object of objects.filter(isTooLargeForApply))
    say(`${nameOf(object)} is larger than 256 KB: apply the objects with kubectl apply --server-side -f FILE`)
  printData(objectsYaml(objects))
}

/** Prints the values of the Helm chart that follow from the document. */
function renderValues(text: string): void {
  printData(plainYaml(chartValues(text)))
}

/** Deploys an earlier revision again. */
export async function rollbackKubernetes(
  options: Omit<DeployOptions, 'config'> & { readonly to?: string },
): Promise<number> {
  return withCluster(options, async (cluster, identity) => {
    const revisions = await readRevisions(cluster, identity)
    const revision = revisionNamed(revisions, options.to)
    const { number, settings, text } = revision
    const wasRolledBack = rolledBackRevisions(revisions).has(contentOf(revision))
    sayRollback({ ...revision, name: `revision ${number}`, wasRolledBack })
    const { note = `rollback to ${number}` } = options
    const { replacedFor: _, ...kept } = settings
    const wanted = { text, settings: kept, identity, rollbackTo: number }
    return execute(deployOf(cluster, wanted, { ...options, note }), options)
  })
}

function revisionNamed(revisions: readonly Revision[], to: string | undefined): Revision {
  const [active] = revisions
  const rolledBack = rolledBackRevisions(revisions)
  const isEarlier = (one: Revision): boolean =>
    contentOf(one) !== contentOf(active!) && !rolledBack.has(contentOf(one))
  const found = revisions.find((one) => (to === undefined ? isEarlier(one) : String(one.number) === to))
  if (found !== undefined) return found
  const what = to === undefined ? 'no earlier revision that was not rolled back' : `no revision '${to}'`
  throw new Failure(`there is ${what}; list revisions with gw history --kubernetes`)
}

type Wanted = Pick<DeployRequest, 'text' | 'settings' | 'identity' | 'rollbackTo'>
type ExecutionOptions = Omit<DeployOptions, 'config'>

function deployOf(cluster: Cluster, wanted: Wanted, options: ExecutionOptions): GatewayDeploy {
  const { note = '', prune = false, force = false, timeout = TIMEOUT_MS, tokenFile } = options
  const request = {
    ...wanted,
    note,
    setsReplicas: options.replicas !== undefined,
    prunes: prune,
    isForced: force,
    timeoutMs: timeout,
    server: tokenFile === undefined ? {} : { tokenFile },
  }
  return new GatewayDeploy(cluster, request, say)
}

function execute(deploy: GatewayDeploy, options: ExecutionOptions): Promise<ExitCode> {
  const work = () => planAndExecute(deploy, options)
  return options.dryRun === true ? work() : deploy.withLock(work)
}

async function planAndExecute(deploy: GatewayDeploy, options: ExecutionOptions): Promise<ExitCode> {
  const plan = await deploy.plan()
  if (isTable(options.output)) await printPlan(plan, options)
  for (const note of plan.notes) say(note)
  if (options.dryRun === true) {
    if (!isTable(options.output)) await printPlan(plan, options)
    return EXIT.ok
  }
  const outcome = await deploy.execute(plan)
  if (!isTable(options.output))
    await printValue({ ...(await planValue(plan, options.prune === true)), ...outcome }, options.output)
  return report(outcome, options)
}

function report(outcome: DeployOutcome, { output }: ExecutionOptions): ExitCode {
  for (const reason of outcome.reasons) complain(visibleText(reason))
  if (outcome.result === 'unreachable') {
    say('nothing was changed')
    return EXIT.unreachable
  }
  if (outcome.result === 'uncertain') {
    say('rolled back, but not all pods confirm the previous configuration; see gw status --kubernetes')
    return EXIT.rolledBack
  }
  if (outcome.result === 'rolled-back') {
    say('rolled back: the previous configuration stays active')
    return EXIT.rolledBack
  }
  if (isTable(output)) print(outcomeText(outcome))
  return EXIT.ok
}

async function printPlan(
  plan: DeployPlan,
  { output, prune = false, dryRun = false }: ExecutionOptions,
): Promise<void> {
  if (!isTable(output)) return printValue(await planValue(plan, prune), output)
  const lines = changeLines(shownChanges(plan, prune))
  const changes = await documentChanges(plan.changes)
  const parts = formatDiff(changes).map((line) => `    ${line}`)
  const cost = dryRun && changes.length > 0 ? [totalCostText(changes)] : []
  if (lines.length === 0) print('no differences')
  else
    print(
      ...[...lines, ...(parts.length === 0 ? [] : ['in the document:', ...parts])].map(visibleText),
      ...cost,
      wayText(plan),
    )
  if (prune) return
  for (const { object } of plan.unneeded) say(`${nameOf(object)} is no longer needed; --prune deletes it`)
}

function wayText({ way, pods, settings }: DeployPlan): string {
  const names = pods.map(({ name }) => name).join(', ')
  if (way === 'reload') return `${countText(pods.length, 'pod')} reload without a restart: ${names}`
  if (way === 'objects') return 'no pod is replaced or reloads'
  if (pods.length === 0) return `${countText(settings.replicas, 'pod')} start`
  return `${countText(pods.length, 'pod')} are replaced one by one: ${names}`
}

function shownChanges({ changes, unneeded }: DeployPlan, prunes: boolean): ObjectChange[] {
  return [...changes, ...(prunes ? unneeded : [])].filter(({ kind }) => kind !== 'none')
}

async function planValue(plan: DeployPlan, prunes: boolean): Promise<object> {
  const { way, pods } = plan
  const document = await documentChanges(plan.changes)
  return {
    way,
    changes: shownChanges(plan, prunes).map(({ kind, object, paths }) => ({
      kind,
      object: { kind: object.kind, name: object.metadata.name, namespace: object.metadata.namespace },
      paths,
    })),
    document,
    cost: costValue(document),
    pods: pods.map(({ name }) => name),
  }
}

/** Settings from the command line, then the last deployment, then defaults. */
async function settingsOf(
  options: ExecutionOptions,
  cluster: Cluster,
  identity: ObjectIdentity,
): Promise<PodSettings> {
  const [last] = await readRevisions(cluster, identity)
  return podSettings({ ...last?.settings, ...present(options) })
}

/** @throws Failure for contradictory numbers of pods. */
function podSettings({ tier, replicas = 2, image, secret, maxReplicas }: Partial<PodSettings>): PodSettings {
  if (maxReplicas !== undefined && maxReplicas > 0 && maxReplicas < replicas)
    throw usageError(`--max-replicas ${maxReplicas} is less than --replicas ${replicas}`)
  return {
    tier: tier ?? 'W2',
    replicas,
    image: image ?? `sluice:${version()}`,
    ...(secret === undefined ? {} : { secret }),
    ...(maxReplicas === undefined || maxReplicas === 0 ? {} : { maxReplicas }),
  }
}
