-- Requests of agents in the last hour, by steps of five minutes: each node adds what it has counted. A row outlives its agent by an
-- hour at most. Older nodes count nothing.
-- Compatible from: 4

CREATE TABLE agent_requests (
  step_ms  bigint NOT NULL,
  agent_id uuid NOT NULL,
  requests integer NOT NULL,
  refusals integer NOT NULL,
  PRIMARY KEY (step_ms, agent_id)
);
