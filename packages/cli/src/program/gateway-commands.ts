import type { Command } from 'commander'
import { asDefault, runs, withDocument, withExample, withOutput } from './building.js'
import {
  addDeployKubernetes,
  addDiffAction,
  addHistoryCommands,
  addStatusAction,
} from './kubernetes-commands.js'

/** Adds the commands that use the admin API of a running gateway. */
export function addGatewayCommands(program: Command): void {
  program.commandsGroup('Running gateway:')
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
  const deploy = program
    .command('deploy')
    .description('deploy a document to all workers; if one cannot use it, all keep the previous document')
  withDocument(deploy)
    .option('--dry-run', 'show the changes without applying them')
    .option('--note <text>', 'note for the deploy history')
    .option('--save', "also write the document to the gateway's file, so that it survives a restart")
  withOutput(deploy, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/deploy.js')).deploy),
  )
  withExample(deploy, 'gw deploy gateway.yaml --note "raise the limits"')
  addDeployKubernetes(deploy)
}

function addDiff(program: Command): void {
  const diff = program
    .command('diff')
    .description('show the differences between a document and the running configuration')
  withDocument(diff).option('--exit-code', 'exit with 2 if there are differences')
  addDiffAction(withOutput(diff, 'table', 'json', 'yaml'))
  withExample(diff, 'gw diff -c gateway.yaml --exit-code')
}

function addStatus(program: Command): void {
  const status = program
    .command('status')
    .description('show workers, listeners and the running configuration')
    .option('-w, --watch', 'refresh every 2 s')
  addStatusAction(withOutput(status, 'table', 'wide', 'json', 'yaml', 'jsonl'))
  withExample(status, 'gw status --watch')
}

function addHealth(program: Command): void {
  const health = program
    .command('health')
    .description('exit with 0 if the gateway is ready; for container health checks')
    .option('--alive', 'check only that it responds, even if it is not ready or is draining')
    .action(runs(async () => (await import('../commands/health.js')).health))
  withExample(health, 'gw health', 'gw health --alive --server https://127.0.0.1:9901')
}

function addRoutes(program: Command): void {
  const routes = program.command('routes').alias('route').description('show routes')
  const list = asDefault(routes.command('list', { isDefault: true }))
  list.description('list all routes in order of precedence')
  withOutput(list, 'table', 'wide', 'json', 'yaml').action(
    runs(async () => (await import('../commands/routes.js')).listRoutes),
  )
  withExample(list, 'gw routes')
  const show = routes.command('show').description('show one route').argument('<id>', 'route id')
  withOutput(show, 'yaml', 'json').action(runs(async () => (await import('../commands/routes.js')).showRoute))
  withExample(show, 'gw routes show orders')
}

function addUpstream(program: Command): void {
  const upstream = program.command('upstream').alias('upstreams').description('show and drain upstreams')
  const list = asDefault(upstream.command('list', { isDefault: true }))
  list.description('list all upstreams and targets with their counters')
  withOutput(list, 'table', 'wide', 'json', 'yaml').action(
    runs(async () => (await import('../commands/upstream.js')).listUpstreams),
  )
  withExample(list, 'gw upstream list')
  const health = upstream
    .command('health')
    .description('show the health of targets, and why some receive no requests')
  health.argument('[name]', 'upstream name')
  withOutput(health, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/upstream-health.js')).showHealth),
  )
  withExample(health, 'gw upstream health orders')
  addTargetDrain(upstream, 'drain', 'send no new requests to a target; running ones finish')
  addTargetDrain(upstream, 'undrain', 'end the drain of a target')
}

function addTargetDrain(upstream: Command, name: 'drain' | 'undrain', description: string): void {
  const command = upstream
    .command(name)
    .description(description)
    .argument('<name>', 'upstream name')
    .argument('[target]', 'target URL; default: all targets')
  if (name === 'drain') command.option('--yes', 'drain all targets without confirmation')
  command.action(runs(async () => (await import('../commands/upstream-health.js'))[name]))
  withExample(command, `gw upstream ${name} orders http://10.0.0.5:9000`)
}

function addCache(program: Command): void {
  const cache = program.command('cache').description('inspect and purge the response cache')
  const stats = asDefault(cache.command('stats', { isDefault: true }))
  stats.description('show cache size and hit counters')
  withOutput(stats, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/cache.js')).cacheStats),
  )
  withExample(stats, 'gw cache stats')
  const get = cache
    .command('get')
    .description('show the responses stored under a key')
    .argument('<key>', 'HOST/PATH?QUERY; include the port if clients do')
  withOutput(get, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/cache.js')).cacheGet),
  )
  withExample(get, "gw cache get 'api.example.com/orders?page=2'")
  const purge = cache
    .command('purge')
    .description('remove cached responses in all workers')
    .option('--key <key>', 'one URL: HOST/PATH?QUERY; include the port if clients do')
    .option('--prefix <text>', 'keys that start with this text')
    .option('--tag <name>', 'responses with this tag in Surrogate-Key')
    .option('--all', 'all responses')
    .option('--yes', 'remove all responses without confirmation')
    .action(runs(async () => (await import('../commands/cache.js')).cachePurge))
  withExample(purge, 'gw cache purge --tag product-17')
}

function addCounts(program: Command, name: 'limits' | 'quota'): void {
  const what = name === 'quota' ? 'quotas' : 'rate limits'
  const counts = program.command(name).description(`inspect and reset the counters of ${what}`)
  const module = async () => (await import('../commands/limits.js'))[name]
  const get = counts.command('get')
  get
    .description('show the counters of all policies, one policy, or one key')
    .argument('[policy]', 'policy id')
  get.argument('[key]', 'key as shown in the list')
  withOutput(get, 'table', 'json', 'yaml').action(runs(async () => (await module()).get))
  withExample(get, `gw ${name} get partners acme`)
  const reset = counts.command('reset').description('reset counters').argument('<policy>', 'policy id')
  reset.argument('[key]', 'only this key').option('--yes', 'reset all keys without confirmation')
  withOutput(reset, 'table', 'json', 'yaml').action(runs(async () => (await module()).reset))
  withExample(reset, `gw ${name} reset partners acme`)
  if (name === 'quota') addQuotaSet(counts)
}

function addBans(program: Command): void {
  const bans = program.command('bans').description('show and lift bans of client-ban')
  const module = async () => (await import('../commands/limits.js')).bans
  const list = bans.command('list')
  list.description('list banned clients and when their bans end').argument('[policy]', 'policy id')
  withOutput(list, 'table', 'json', 'yaml').action(runs(async () => (await module()).list))
  withExample(list, 'gw bans list')
  const lift = bans.command('lift').description('end bans early').argument('<policy>', 'policy id')
  lift.argument('[caller]', 'only this client, as shown in the list')
  lift.option('--yes', 'end all bans without confirmation')
  withOutput(lift, 'table', 'json', 'yaml').action(runs(async () => (await module()).lift))
  withExample(lift, 'gw bans lift login 192.0.2.7')
}

function addQuotaSet(quota: Command): void {
  const set = quota
    .command('set')
    .description('set the used amount of a quota')
    .argument('<policy>', 'policy id')
  set.argument('<key>', 'quota key').argument('<used>', 'used amount, a whole number')
  withOutput(set, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../commands/limits.js')).setQuota),
  )
  withExample(set, 'gw quota set partners acme 1000')
}

function addDrain(program: Command): void {
  const drain = program
    .command('drain')
    .description('shut down gracefully: fail readiness, finish requests, exit')
    .option('--yes', 'skip the confirmation; required without a terminal')
    .action(runs(async () => (await import('../commands/drain.js')).drain))
  withExample(drain, 'gw drain --yes')
}
