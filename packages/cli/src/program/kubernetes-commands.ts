import { withGroup, withGroupDeploy, withTeam } from './control-commands.js'
import { type GwCommand, shortTime, wholeNumber } from './gw-command.js'

/** Adds the options that select the cluster and the gateway. */
function withCluster(command: GwCommand): GwCommand {
  return command
    .option('--namespace <name>', 'namespace of the gateway; default: that of the context')
    .option('--name <name>', 'name of the gateway; default sluice')
    .option('--kubeconfig <file>', 'default: KUBECONFIG, ~/.kube/config, or the cluster of this pod')
    .option('--context <name>', 'kubeconfig context; default: the current one')
}

/** Adds `--kubernetes` and the cluster options. */
function withKubernetes(command: GwCommand): GwCommand {
  return command
    .option('--kubernetes', 'use all pods of the gateway in a cluster')
    .with(withCluster)
    .onlyWith('kubernetes', 'namespace', 'name', 'kubeconfig', 'context')
}

function withPods(command: GwCommand): GwCommand {
  return command
    .choice('--tier <tier>', 'pod size; default: unchanged, or W2', ['W1', 'W2', 'W4', 'W8'])
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
function withTimeout(command: GwCommand): GwCommand {
  return command.option('--timeout <time>', 'time limit for the pods; default 5m', shortTime)
}

/** Adds `gw deploy kubernetes`; the document, `--dry-run`, `--note` and `-o` are those of `gw deploy`. */
export function addDeployKubernetes(deploy: GwCommand): void {
  deploy
    .command('kubernetes')
    .description('deploy a document to a cluster: pods reload it together, or are replaced if necessary')
    .argument('[document]', 'the document, as with -c')
    .inherits('--config', '--dry-run', '--note', '--output')
    .usesServer(false)
    .with(withCluster)
    .with(withPods)
    .with(withTimeout)
    .option('--prune', 'delete objects of earlier deployments that are no longer needed')
    .option('--force', 'take over objects and fields of other tools, and a running deployment')
    .option('--render', 'print the objects as YAML, for kubectl apply or a repository, without a cluster')
    .option(
      '--helm-values',
      'print the document and its facts as values of the Helm chart, without a cluster',
    )
    .atMostOne('render', 'helmValues', 'prune')
    .runs(async () => (await import('../commands/deploy-kubernetes.js')).deployKubernetes)
    .example('gw deploy kubernetes -c gateway.yaml --tier W4 --replicas 3 --namespace gateways')
}

/** Adds the cluster options to `gw diff`. */
export function addDiffAction(diff: GwCommand): void {
  diff
    .with(withKubernetes)
    .with(withPods)
    .onlyWith('kubernetes', 'tier', 'replicas', 'maxReplicas', 'image', 'secret')
    .with(withGroup)
    .with(withTeam)
    .option('--from <deploy>', 'with --group: compare this deploy; default: the one before --to')
    .option('--to <deploy>', 'with --group: with this deploy; default: the last one')
    .onlyWith('group', 'from', 'to')
    .runsAt({
      cluster: async () => (await import('../commands/deploy-kubernetes.js')).diffKubernetes,
      group: async () => (await import('../commands/deploy-group.js')).diffGroup,
      gateway: async () => (await import('../commands/diff.js')).diff,
    })
}

/** Adds the cluster options to `gw status`. */
export function addStatusAction(status: GwCommand): void {
  status.with(withKubernetes).runsAt({
    cluster: async () => (await import('../commands/status-kubernetes.js')).statusKubernetes,
    gateway: async () => (await import('../commands/status.js')).status,
  })
}

/** Adds the cluster options to `gw trace`. */
export function addTraceAction(trace: GwCommand): void {
  trace.with(withKubernetes).runsAt({
    cluster: async () => (await import('../commands/trace.js')).traceKubernetes,
    gateway: async () => (await import('../commands/trace.js')).trace,
  })
}

/** Adds `gw history` and `gw rollback`. */
export function addHistoryCommands(program: GwCommand): void {
  program
    .subcommand('history', 'list deployed documents, newest first')
    .with(withKubernetes)
    .with(withGroup)
    .output('table', 'wide', 'json', 'yaml')
    .runsAt({
      cluster: async () => (await import('../commands/status-kubernetes.js')).historyKubernetes,
      group: async () => (await import('../commands/history-group.js')).historyGroup,
      gateway: async () => (await import('../commands/history.js')).history,
    })
    .example('gw history', 'gw history --kubernetes --namespace gateways', 'gw history --group edge-eu')
  program
    .subcommand('rollback', 'deploy an earlier document again')
    .option('--to <id>', 'id from gw history; default: the previous document')
    .option('--dry-run', 'only print the changes')
    .option('--note <text>', 'reason, shown in the history')
    .option('--force', 'replace the configuration of a controller until its next deploy or a restart')
    .with(withKubernetes)
    .with(withTimeout)
    .onlyWith('kubernetes', 'timeout')
    .with(withGroupDeploy)
    .excludes('force', 'group')
    .output('table', 'json', 'yaml')
    .runsAt({
      cluster: async () => (await import('../commands/deploy-kubernetes.js')).rollbackKubernetes,
      group: async () => (await import('../commands/deploy-group.js')).rollbackGroup,
      gateway: async () => (await import('../commands/history.js')).rollback,
    })
    .example('gw rollback', 'gw rollback --kubernetes --to 3', 'gw rollback --group edge-eu')
}
