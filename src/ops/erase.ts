import { erasePrincipal } from '../../core/operations/operate.ts';
import { UsageError } from './arguments.ts';
import type { Command } from './command.ts';
import { counted } from './table.ts';

export const erase: Command = {
  options: ['principal', 'tenant'],
  acts: true,
  prepare(args) {
    const [principal, tenant] = [args.text('principal'), args.text('tenant')];
    if (principal === undefined) throw new UsageError('whose data? --principal <id>');
    const subject = { principal, ...(tenant === undefined ? {} : { tenant }) };
    return async (session) => {
      const tasks = await erasePrincipal(session, session.act, subject);
      return { text: `${counted(tasks, 'task')} erased\n`, json: { tasks } };
    };
  },
};
