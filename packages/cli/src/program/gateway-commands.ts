import type { Command } from 'commander'
import { asDefault, runs, withDocument, withExample, withOutput } from './building.js'
import {
  addDeployKubernetes,
  addDiffAction,
  addHistoryCommands,
  addStatusAction,
} from './kubernetes-commands.js'

/** Adds the commands that talk to a running gateway through its admin API. */
export function addGatewayCommands(program: Command): void {
  program.commandsGroup('With a running gateway:')
  addDeploy(program)
  addDiff(program)
  addStatus(program)
  addHistoryCommands(program)
  addHealth(program)
  addRoutes(program)
  addUpstream(program)
  addCache(program)
  addCounts(program, 'limits')
  addCounts(program, 'quota')
  addBans(program)
  addDrain(program)
}

function addDeploy(program: Command): void {
  const deploy = program.command('deploy').description('bring a document to all workers, or to none')
  withDocument(deploy)
    .option('--dry-run', 'only say what would change')
    .option('--note <text>', 'why, for the history of deploys')
    .option('--save', 'also save the document to the gateway file, so that it survives a restart')
  withOutput(deploy, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/deploy.js')).deploy),
  )
  withExample(deploy, 'gw deploy gateway.yaml --note "raise the limits"')
  addDeployKubernetes(deploy)
}

function addDiff(program: Command): void {
  const diff = program.command('diff').description('what differs between a document and what serves')
  withDocument(diff).option('--exit-code', 'exit with 2 when there are differences')
  addDiffAction(withOutput(diff, 'table', 'json', 'yaml'))
  withExample(diff, 'gw diff -c gateway.yaml --exit-code')
}

function addStatus(program: Command): void {
  const status = program
    .command('status')
    .description('workers, listeners, and the configuration that serves')
    .option('-w, --watch', 'again every 2 s')
  addStatusAction(withOutput(status, 'table', 'wide', 'json', 'yaml', 'jsonl'))
  withExample(status, 'gw status --watch')
}

function addHealth(program: Command): void {
  const health = program
    .command('health')
    .description('exit with 0 when the gateway serves and does not drain; the health check of containers')
    .option('--alive', 'only whether it answers: also before it serves, and while it drains')
    .action(runs(async () => (await import('../commands/health.js')).health))
  withExample(health, 'gw health', 'gw health --alive --server https://127.0.0.1:9901')
}

function addRoutes(program: Command): void {
  const routes = program.command('routes').alias('route').description('the routes that serve')
  const list = asDefault(routes.command('list', { isDefault: true }))
  list.description('all routes, the one that wins first')
  withOutput(list, 'table', 'wide', 'json', 'yaml').action(
    runs(async () => (await import('../commands/routes.js')).listRoutes),
  )
  withExample(list, 'gw routes')
  const show = routes.command('show').description('everything about one route').argument('<id>', 'the route')
  withOutput(show, 'yaml', 'json').action(runs(async () => (await import('../commands/routes.js')).showRoute))
  withExample(show, 'gw routes show orders')
}

function addUpstream(program: Command): void {
  const upstream = program.command('upstream').alias('upstreams').description('the upstreams that serve')
  const list = asDefault(upstream.command('list', { isDefault: true }))
  list.description('all upstreams and their targets, with what the workers counted')
  withOutput(list, 'table', 'wide', 'json', 'yaml').action(
    runs(async () => (await import('../commands/upstream.js')).listUpstreams),
  )
  withExample(list, 'gw upstream list')
  const health = upstream
    .command('health')
    .description('which targets are sent requests, and why others are not')
  health.argument('[name]', 'only this upstream')
  withOutput(health, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/upstream-health.js')).showHealth),
  )
  withExample(health, 'gw upstream health orders')
  addTargetDrain(upstream, 'drain', 'send nothing more to a target; what it has already goes on')
  addTargetDrain(upstream, 'undrain', 'send requests to a drained target again')
}

function addTargetDrain(upstream: Command, name: 'drain' | 'undrain', description: string): void {
  const command = upstream
    .command(name)
    .description(description)
    .argument('<name>', 'the upstream')
    .argument('[target]', 'the URL of the target; without it, all targets')
  if (name === 'drain') command.option('--yes', 'do not ask before all targets are drained')
  command.action(runs(async () => (await import('../commands/upstream-health.js'))[name]))
  withExample(command, `gw upstream ${name} orders http://10.0.0.5:9000`)
}

function addCache(program: Command): void {
  const cache = program.command('cache').description('the responses that response-cache keeps')
  const stats = asDefault(cache.command('stats', { isDefault: true }))
  stats.description('how much is kept, and how requests were served')
  withOutput(stats, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/cache.js')).cacheStats),
  )
  withExample(stats, 'gw cache stats')
  const get = cache
    .command('get')
    .description('what is stored under a key')
    .argument('<key>', 'HOST/PATH?QUERY, with the port that clients name')
  withOutput(get, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/cache.js')).cacheGet),
  )
  withExample(get, "gw cache get 'api.example.com/orders?page=2'")
  const purge = cache
    .command('purge')
    .description('have all workers forget responses')
    .option('--key <key>', 'those of one URL: HOST/PATH?QUERY, with the port that clients name')
    .option('--prefix <text>', 'those whose key begins so')
    .option('--tag <name>', 'those that the upstream named so in Surrogate-Key')
    .option('--all', 'all')
    .option('--yes', 'do not ask before all are forgotten')
    .action(runs(async () => (await import('../commands/cache.js')).cachePurge))
  withExample(purge, 'gw cache purge --tag product-17')
}

function addCounts(program: Command, name: 'limits' | 'quota'): void {
  const what = name === 'quota' ? 'quotas' : 'rate limits'
  const counts = program.command(name).description(`what ${what} have counted`)
  const module = async () => (await import('../commands/limits.js'))[name]
  const get = counts.command('get')
  get.description('the counts of all policies, of one, or of one of its keys').argument('[policy]', 'its id')
  get.argument('[key]', 'as the counts show it')
  withOutput(get, 'table', 'json', 'yaml').action(runs(async () => (await module()).get))
  withExample(get, `gw ${name} get partners acme`)
  const reset = counts.command('reset').description('let counts begin anew').argument('<policy>', 'its id')
  reset.argument('[key]', 'only this key').option('--yes', 'do not ask before all keys begin anew')
  withOutput(reset, 'table', 'json', 'yaml').action(runs(async () => (await module()).reset))
  withExample(reset, `gw ${name} reset partners acme`)
  if (name === 'quota') addQuotaSet(counts)
}

function addBans(program: Command): void {
  const bans = program.command('bans').description('the callers that client-ban has banned')
  const module = async () => (await import('../commands/limits.js')).bans
  const list = bans.command('list')
  list.description('who is banned, and until when').argument('[policy]', 'only by this one, its id')
  withOutput(list, 'table', 'json', 'yaml').action(runs(async () => (await module()).list))
  withExample(list, 'gw bans list')
  const lift = bans.command('lift').description('end bans early').argument('<policy>', 'its id')
  lift.argument('[caller]', 'only this one, as the list shows it')
  lift.option('--yes', 'do not ask before all bans end')
  withOutput(lift, 'table', 'json', 'yaml').action(runs(async () => (await module()).lift))
  withExample(lift, 'gw bans lift login 192.0.2.7')
}

function addQuotaSet(quota: Command): void {
  const set = quota.command('set').description('say what is used of a quota').argument('<policy>', 'its id')
  set.argument('<key>', 'whose quota').argument('<used>', 'how much of it, a whole number')
  withOutput(set, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/limits.js')).setQuota),
  )
  withExample(set, 'gw quota set partners acme 1000')
}

function addDrain(program: Command): void {
  const drain = program
    .command('drain')
    .description('end the gateway gently: not ready, finish what is in flight, exit')
    .option('--yes', 'do not ask; needed without a terminal')
    .action(runs(async () => (await import('../commands/drain.js')).drain))
  withExample(drain, 'gw drain --yes')
}
