import { storeContract } from './contract.ts';
import { openSqliteSubject } from './sqlite-subject.ts';

storeContract('SqliteStore', (t) => openSqliteSubject(t));
