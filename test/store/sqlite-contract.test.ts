import { storeContract, storeForOperatorsContract } from './contract.ts';
import { openSqliteSubject } from './sqlite-subject.ts';

storeContract('SqliteStore', (t) => openSqliteSubject(t));
storeForOperatorsContract('SqliteStore', (t) => openSqliteSubject(t));
