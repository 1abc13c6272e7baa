import type { GwCommand } from './gw-command.js'

/** Adds the commands for the systemd service. */
export function addServiceCommands(program: GwCommand): void {
  const service = program.subcommand('service', 'install the gateway as a systemd service')
  service
    .subcommand('install', 'write the systemd unit and print the next steps; does not start it')
    .argument('[document]', 'document file; default /etc/NAME/gateway.yaml')
    .option('--user <name>', 'user of the service; default: the unit name')
    .option('--gw <path>', 'path of gw; default: this one')
    .with(withPlace)
    .runs(async () => (await import('../commands/service.js')).install)
    .example('gw service install', 'gw service install /etc/orders/gateway.yaml --name orders --dry-run')
  service
    .subcommand('uninstall', 'remove the systemd unit; keeps the process and all data')
    .with(withPlace)
    .runs(async () => (await import('../commands/service.js')).uninstall)
    .example('gw service uninstall --dry-run')
}

function withPlace(command: GwCommand): GwCommand {
  return command
    .option('--name <name>', 'name of the unit and of its folders in /etc and /var/lib', 'sluice')
    .option('--root <dir>', 'root of the file system, for another machine or image', '/')
    .option('--force', 'overwrite or remove a unit that was changed')
    .option('--dry-run', 'show the changes without applying them')
}
