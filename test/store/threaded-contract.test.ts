import { storeContract } from './contract.ts';
import { pushConfigsContract } from './push-configs-contract.ts';
import { openThreadedSubject } from './threaded-subject.ts';

storeContract('SqliteStore in a thread', openThreadedSubject);
pushConfigsContract('SqliteStore in a thread', openThreadedSubject);
