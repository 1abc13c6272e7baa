import { type Command, InvalidArgumentError, Option } from 'commander'
import { runs, wholeNumber, withExample, withOutput } from './building.js'

/** Adds the options that select the cluster and the gateway. */
function withCluster(command: Command): Command {
  return command
    .option('--namespace <name>', 'namespace of the gateway; default: that of the context')
    .option('--name <name>', 'name of the gateway; default sluice')
    .option('--kubeconfig <file>', 'default: KUBECONFIG, ~/.kube/config, or the cluster of this pod')
    .option('--context <name>', 'kubeconfig context; default: the current one')
}

/** Adds `--kubernetes` and the cluster options. */
function withKubernetes(command: Command): Command {
  return withCluster(command.option('--kubernetes', 'use all pods of the gateway in a cluster'))
}

/** Runs `inCluster` with `--kubernetes`, otherwise `atGateway`. */
function runsEither<A extends object, B extends object>(
  inCluster: Parameters<typeof runs<A>>[0],
  atGateway: Parameters<typeof runs<B>>[0],
): (this: Command) => Promise<void> {
  return async function act(this: Command): Promise<void> {
    const { kubernetes = false } = this.optsWithGlobals<{ readonly kubernetes?: boolean }>()
    await (kubernetes ? runs(inCluster) : runs(atGateway)).call(this)
  }
}

/** Adds the pod settings. */
function withPods(command: Command): Command {
  return command
    .addOption(
      new Option('--tier <tier>', 'pod size; default: unchanged, or W2').choices(['W1', 'W2', 'W4', 'W8']),
    )
    .option(
      '--replicas <n>',
      'number of pods, or the minimum with --max-replicas; default: unchanged, or 2',
      wholeNumber(1, 1000),
    )
    .option(
      '--max-replicas <n>',
      'scale up to this number of pods under load; 0 disables this',
      wholeNumber(0, 1000),
    )
    .option('--image <image>', 'container image; default: unchanged, or sluice:<version of gw>')
    .option('--secret <name>', 'the Secret with the values of ${env:NAME} and ${file:PATH}')
}

/** Adds `--timeout`. */
function withTimeout(command: Command): Command {
  return command.option('--timeout <time>', 'time limit for the pods; default 5m', duration)
}

function duration(text: string): number {
  const [, number, unit] = /^(\d{1,6})(s|m)$/.exec(text) ?? []
  if (number === undefined) throw new InvalidArgumentError('use for example 90s or 5m')
  return Number(number) * (unit === 'm' ? 60_000 : 1000)
}

/** Adds `gw deploy kubernetes`; the document, `--dry-run`, `--note` and `-o` are those of `gw deploy`. */
export function addDeployKubernetes(deploy: Command): void {
  const command = deploy
    .command('kubernetes')
    .description('deploy a document to a cluster: pods reload it together, or are replaced if necessary')
    .argument('[document]', 'the document, as with -c')
  withTimeout(withPods(withCluster(command)))
    .option('--prune', 'delete objects of earlier deployments that are no longer needed')
    .option('--force', 'take over objects and fields of other tools, and a running deployment')
    .option('--render', 'print the objects as YAML, for kubectl apply or a repository, without a cluster')
    .option(
      '--helm-values',
      'print the document and its facts as values of the Helm chart, without a cluster',
    )
    .action(runs(async () => (await import('../commands/deploy-kubernetes.js')).deployKubernetes))
  withExample(command, 'gw deploy kubernetes -c gateway.yaml --tier W4 --replicas 3 --namespace gateways')
}

/** Adds the cluster options to `gw diff`. */
export function addDiffAction(diff: Command): void {
  withPods(withKubernetes(diff)).action(
    runsEither(
      async () => (await import('../commands/deploy-kubernetes.js')).diffKubernetes,
      async () => (await import('../commands/diff.js')).diff,
    ),
  )
}

/** Adds the cluster options to `gw status`. */
export function addStatusAction(status: Command): void {
  withKubernetes(status).action(
    runsEither(
      async () => (await import('../commands/status-kubernetes.js')).statusKubernetes,
      async () => (await import('../commands/status.js')).status,
    ),
  )
}

/** Adds `gw history` and `gw rollback`. */
export function addHistoryCommands(program: Command): void {
  const history = program.command('history').description('list deployed documents, newest first')
  withOutput(withKubernetes(history), 'table', 'wide', 'json', 'yaml').action(
    runsEither(
      async () => (await import('../commands/status-kubernetes.js')).historyKubernetes,
      async () => (await import('../commands/history.js')).history,
    ),
  )
  withExample(history, 'gw history', 'gw history --kubernetes --namespace gateways')
  const rollback = program
    .command('rollback')
    .description('deploy an earlier document again')
    .option('--to <id>', 'id from gw history; default: the previous document')
    .option('--dry-run', 'only print the changes')
    .option('--note <text>', 'reason, shown in the history')
  withOutput(withTimeout(withKubernetes(rollback)), 'table', 'json', 'yaml').action(
    runsEither(
      async () => (await import('../commands/deploy-kubernetes.js')).rollbackKubernetes,
      async () => (await import('../commands/history.js')).rollback,
    ),
  )
  withExample(rollback, 'gw rollback', 'gw rollback --kubernetes --to 3')
}
