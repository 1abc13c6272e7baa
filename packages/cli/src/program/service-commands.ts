import type { Command } from 'commander'
import { runs, withExample } from './building.js'

/** Adds the commands that make the gateway a service of systemd. */
export function addServiceCommands(program: Command): void {
  const service = program.command('service').description('the gateway as a service of systemd')
  const install = service
    .command('install')
    .description('write the unit of a gateway, and say what to run next; starts nothing')
    .argument('[document]', 'the document; default /etc/NAME/gateway.yaml')
    .option('--user <name>', 'whom it runs as; default as the unit')
    .option('--gw <path>', 'the gw that it runs; default this one')
  withPlace(install).action(runs(async () => (await import('../commands/service.js')).install))
  withExample(
    install,
    'gw service install',
    'gw service install /etc/orders/gateway.yaml --name orders --dry-run',
  )
  const uninstall = service.command('uninstall').description('remove the unit; stops nothing, keeps all data')
  withPlace(uninstall).action(runs(async () => (await import('../commands/service.js')).uninstall))
  withExample(uninstall, 'gw service uninstall --dry-run')
}

function withPlace(command: Command): Command {
  return command
    .option('--name <name>', 'of the unit, and of its folders in /etc and /var/lib', 'sluice')
    .option('--root <dir>', 'the file system of another machine or image', '/')
    .option('--force', 'also when somebody has changed the unit')
    .option('--dry-run', 'change nothing, and show what would be')
}
