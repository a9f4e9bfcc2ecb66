import { pushConfigsContract } from './push-configs-contract.ts';
import { openSqliteSubject } from './sqlite-subject.ts';

pushConfigsContract('SqliteStore', async (t) => {
  const subject = await openSqliteSubject(t);
  return { ...subject, configs: subject.sqlite.pushConfigs };
});
