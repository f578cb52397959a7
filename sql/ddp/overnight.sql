-- The overnight turn of ddp (D-Day at Peleliu): 16.0.

create or replace function ddp._overnight(conditions jsonb)
returns boolean
language sql immutable parallel safe
return coalesce(
  (conditions ->> 'turn')::integer = 13
  -- 18.2: turn 13 of Bloody Nose Ridge is a morning
  and conditions ->> 'scenario' is distinct from 'bloody_nose_ridge',
  false
);

comment on function ddp._overnight(jsonb) is
'Whether it is the overnight turn, Turn 13 of the invasion (16.0).';
