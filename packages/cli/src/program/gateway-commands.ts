import { withCanary, withGroup, withGroupDeploy, withTeam } from './control-commands.js'
import { type GwCommand, shortTime, wholeNumber } from './gw-command.js'
import {
  addDeployKubernetes,
  addDiffAction,
  addHistoryCommands,
  addStatusAction,
  addTraceAction,
} from './kubernetes-commands.js'

/** Adds the commands that use the admin API of a running gateway. */
export function addGatewayCommands(program: GwCommand): void {
  program.commandsGroup('Running gateway:')
  addDeploy(program)
  addDiff(program)
  addStatus(program)
  addTop(program)
  addTrace(program)
  addDoctor(program)
  addHistoryCommands(program)
  addShow(program)
  addHealth(program)
  addRoutes(program)
  addUpstream(program)
  addCache(program)
  addCounts(program, 'limits')
  addCounts(program, 'quota')
  addBans(program)
  addEnds(program)
}

function addDeploy(program: GwCommand): void {
  const deploy = program
    .command('deploy')
    .description('deploy a document to all workers; if one cannot use it, all keep the previous document')
    .document((run) => run.getOptionValue('abort') !== true)
    .option('--dry-run', 'show the changes without applying them')
    .option('--note <text>', 'note for the deploy history')
    .option('--save', "also write the document to the gateway's file, so that it survives a restart")
    .with(withGroupDeploy)
    .with(withCanary)
    .with(withTeam)
    .option('--force', 'replace the configuration of a controller until its next deploy or a restart')
    .excludes('group', 'force')
    .excludes('abort', 'dryRun', 'note', 'save', 'force', 'quorum', 'deadline', 'team')
    .output('table', 'json', 'yaml')
    .runsAt({
      group: async () => (await import('../commands/deploy-group.js')).deployGroup,
      gateway: async () => (await import('../commands/deploy.js')).deploy,
    })
    .example(
      'gw deploy gateway.yaml --note "raise the limits"',
      'gw deploy gateway.yaml --group edge-eu',
      "gw deploy gateway.yaml --group edge-eu --canary 10% --for 5m --abort-on 'errors > 1% || p99 > 2x'",
      'gw deploy fragments/payments --group edge-eu --team payments',
    )
  addDeployKubernetes(deploy)
}

function addDiff(program: GwCommand): void {
  const diff = program
    .subcommand('diff', 'show the differences between a document and the running configuration')
    .document((run) => run.getOptionValue('group') === undefined || run.args.length > 0)
    .option('--exit-code', 'exit with 2 if there are differences')
  addDiffAction(diff.output('table', 'json', 'yaml'))
  diff.example(
    'gw diff -c gateway.yaml --exit-code',
    'gw diff --group edge-eu -c gateway.yaml',
    'gw diff --group edge-eu --from 3 --to 5',
  )
}

function addShow(program: GwCommand): void {
  program
    .subcommand('show', 'print a document that was deployed to a group of gateways')
    .argument('[deploy]', 'number from gw history --group; default: the last one')
    .with(withGroup)
    .option('--file <path>', 'print this file of the bundle instead')
    .option('--files', 'list the files of the bundle')
    .atMostOne('file', 'files')
    .runs(async () => (await import('../commands/history-group.js')).showGroup)
    .example('gw show --group edge-eu 3 > gateway.yaml')
}

function addStatus(program: GwCommand): void {
  const status = program
    .subcommand('status', 'show workers, listeners and the running configuration')
    .option('-w, --watch', 'refresh every 2 s')
  addStatusAction(status.output('table', 'wide', 'json', 'yaml', 'jsonl'))
  status.example('gw status --watch')
}

function addTop(program: GwCommand): void {
  program
    .subcommand('top', 'show live traffic by route, with its policies and targets; interactive on a terminal')
    .option('-d, --delay <seconds>', 'time between refreshes', wholeNumber(1, 3600), 1)
    .option('--once', 'print the traffic of one interval and exit; the default without a terminal')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/top.js')).top)
    .example('gw top', 'gw top --once --delay 10 -o json')
}

function addTrace(program: GwCommand): void {
  const trace = program
    .command('trace')
    .description('show what each policy does to live requests: its result, its duration and what it changes')
    .option('--route <id>', 'trace only requests of this route')
    .option('--when <condition>', 'trace only requests that match a condition, such as res.status == 401')
    .option('--count <n>', 'end after this number of requests', wholeNumber(1, 1000), 10)
    .option('--for <time>', 'end after this time, at most 10m; default 1m', shortTime)
  addTraceAction(trace.output('table', 'json', 'jsonl'))
  trace.example(
    'gw trace --route orders --count 1',
    "gw trace --when 'res.status == 401' --for 5m -o jsonl",
    'gw trace --route orders --kubernetes --namespace gateways',
  )
}

function addDoctor(program: GwCommand): void {
  program
    .subcommand('doctor', 'check a running gateway and give advice; exits with 1 if there are problems')
    .output('table', 'wide', 'json', 'yaml')
    .runs(async () => (await import('../commands/doctor.js')).doctor)
    .example('gw doctor', 'gw doctor -o json --server https://gw.example.com:9901')
}

function addHealth(program: GwCommand): void {
  program
    .subcommand('health', 'exit with 0 if the gateway is ready; for container health checks')
    .option('--alive', 'check only that it responds, even if it is not ready or is draining')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/health.js')).health)
    .example('gw health', 'gw health --alive --server https://127.0.0.1:9901')
}

function addRoutes(program: GwCommand): void {
  const routes = program.command('routes').alias('route').description('show routes')
  routes
    .defaultCommand('list', 'list all routes in order of precedence')
    .output('table', 'wide', 'json', 'yaml')
    .runs(async () => (await import('../commands/routes.js')).listRoutes)
    .example('gw routes')
  routes
    .subcommand('show', 'show one route')
    .argument('<id>', 'route id')
    .output('yaml', 'json')
    .runs(async () => (await import('../commands/routes.js')).showRoute)
    .example('gw routes show orders')
}

function addUpstream(program: GwCommand): void {
  const upstream = program.command('upstream').alias('upstreams').description('show and drain upstreams')
  upstream
    .defaultCommand('list', 'list all upstreams and targets with their state and counters')
    .output('table', 'wide', 'json', 'yaml')
    .runs(async () => (await import('../commands/upstream.js')).listUpstreams)
    .example('gw upstream list')
  upstream
    .subcommand('health', 'show the health of targets, and why some receive no requests')
    .argument('[name]', 'upstream name')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/upstream.js')).showHealth)
    .example('gw upstream health orders')
  addTargetDrain(upstream, 'drain', 'send no new requests to a target; running ones finish')
  addTargetDrain(upstream, 'undrain', 'end the drain of a target')
}

function addTargetDrain(upstream: GwCommand, name: 'drain' | 'undrain', description: string): void {
  const command = upstream
    .command(name)
    .description(description)
    .argument('<name>', 'upstream name')
    .argument('[target]', 'target URL; default: all targets')
  if (name === 'drain') command.option('--yes', 'drain all targets without confirmation')
  command.output('table', 'json', 'yaml').runs(async () => (await import('../commands/upstream.js'))[name])
  command.example(`gw upstream ${name} orders http://10.0.0.5:9000`)
}

function addCache(program: GwCommand): void {
  const cache = program.subcommand('cache', 'inspect and purge the response cache')
  cache
    .defaultCommand('stats', 'show cache size and hit counters')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/cache.js')).cacheStats)
    .example('gw cache stats')
  cache
    .subcommand('get', 'show the responses stored under a key')
    .argument('<key>', 'HOST/PATH?QUERY; include the port if clients do')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/cache.js')).cacheGet)
    .example("gw cache get 'api.example.com/orders?page=2'")
  cache
    .subcommand('purge', 'remove cached responses in all workers')
    .option('--key <key>', 'one URL: HOST/PATH?QUERY; include the port if clients do')
    .option('--prefix <text>', 'keys that start with this text')
    .option('--tag <name>', 'responses with this tag in Surrogate-Key')
    .option('--all', 'all responses')
    .option('--yes', 'remove all responses without confirmation')
    .atMostOne('key', 'prefix', 'tag', 'all')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/cache.js')).cachePurge)
    .example('gw cache purge --tag product-17')
}

function addCounts(program: GwCommand, name: 'limits' | 'quota'): void {
  const what = name === 'quota' ? 'quotas' : 'rate limits'
  const counts = program.command(name).description(`inspect and reset the counters of ${what}`)
  const module = async () => (await import('../commands/limits.js'))[name]
  counts
    .subcommand('get', 'show the counters of all policies, one policy, or one key')
    .argument('[policy]', 'policy id')
    .argument('[key]', 'key as shown in the list')
    .output('table', 'json', 'yaml')
    .runs(async () => (await module()).get)
    .example(`gw ${name} get partners acme`)
  counts
    .subcommand('reset', 'reset counters')
    .argument('<policy>', 'policy id')
    .argument('[key]', 'only this key')
    .option('--yes', 'reset all keys without confirmation')
    .output('table', 'json', 'yaml')
    .runs(async () => (await module()).reset)
    .example(`gw ${name} reset partners acme`)
  if (name === 'quota') addQuotaSet(counts)
}

function addBans(program: GwCommand): void {
  const bans = program.subcommand('bans', 'show and lift bans of client-ban')
  const module = async () => (await import('../commands/limits.js')).bans
  bans
    .subcommand('list', 'list banned clients and when their bans end')
    .argument('[policy]', 'policy id')
    .output('table', 'json', 'yaml')
    .runs(async () => (await module()).list)
    .example('gw bans list')
  bans
    .subcommand('lift', 'end bans early')
    .argument('<policy>', 'policy id')
    .argument('[caller]', 'only this client, as shown in the list')
    .option('--yes', 'end all bans without confirmation')
    .output('table', 'json', 'yaml')
    .runs(async () => (await module()).lift)
    .example('gw bans lift login 192.0.2.7')
}

function addQuotaSet(quota: GwCommand): void {
  quota
    .subcommand('set', 'set the used amount of a quota')
    .argument('<policy>', 'policy id')
    .argument('<key>', 'quota key')
    .argument('<used>', 'used amount, a whole number')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/limits.js')).setQuota)
    .example('gw quota set partners acme 1000')
}

/** Adds the commands that end the running processes. */
function addEnds(program: GwCommand): void {
  program
    .command('upgrade')
    .description('replace the running gateway by the version now installed, without losing requests')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/upgrade.js')).upgrade)
    .example('gw upgrade')
  program
    .subcommand('drain', 'shut down gracefully: fail readiness, finish requests, exit')
    .option('--yes', 'skip the confirmation; required without a terminal')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('../commands/drain.js')).drain)
    .example('gw drain --yes')
}
