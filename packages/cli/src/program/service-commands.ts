import type { Command } from 'commander'
import { runs, withExample } from './building.js'

/** Adds the commands for the systemd service. */
export function addServiceCommands(program: Command): void {
  const service = program.command('service').description('install the gateway as a systemd service')
  const install = service
    .command('install')
    .description('write the systemd unit and print the next steps; does not start it')
    .argument('[document]', 'document file; default /etc/NAME/gateway.yaml')
    .option('--user <name>', 'user of the service; default: the unit name')
    .option('--gw <path>', 'path of gw; default: this one')
  withPlace(install).action(runs(async () => (await import('../commands/service.js')).install))
  withExample(
    install,
    'gw service install',
    'gw service install /etc/orders/gateway.yaml --name orders --dry-run',
  )
  const uninstall = service
    .command('uninstall')
    .description('remove the systemd unit; keeps the process and all data')
  withPlace(uninstall).action(runs(async () => (await import('../commands/service.js')).uninstall))
  withExample(uninstall, 'gw service uninstall --dry-run')
}

function withPlace(command: Command): Command {
  return command
    .option('--name <name>', 'name of the unit and of its folders in /etc and /var/lib', 'sluice')
    .option('--root <dir>', 'root of the file system, for another machine or image', '/')
    .option('--force', 'overwrite or remove a unit that was changed')
    .option('--dry-run', 'show the changes without applying them')
}
