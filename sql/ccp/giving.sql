-- needs: ccp/cards.sql, ccp/events.sql, ccp/orders.sql
-- Orders that are carried out as they are given: Asset Request, Charge, Infiltrate, Revive: O24, O25, O28, O31.

create or replace function ccp.can_move(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns boolean
language sql stable
as $$
  select step.effect <> 'forbids'
  from positions.state(can_move.position_id, can_move.conditions, can_move.policy) as state
  cross join lateral (
    select array_agg(one) as units from ccp._called(state, can_move.unit, '{}') as one
  ) as called
  cross join lateral ccp._move_calling_steps(state, called.units) as step
$$;

comment on function ccp.can_move(bigint, text, jsonb, jsonb) is
'Whether a unit has movement enough to enter some hex; true where its movement is not told (O29).';

create or replace function ccp._asset_steps(state positions.state, option text, stat ccp.stat)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select
    fact.rule,
    null,
    null,
    'forbids',
    fact.note,
    null,
    null,
    null::integer,
    null::jsonb
  from (
    select
      state.conditions -> 'radio' -> stat.side as radio,
      coalesce(state.conditions -> 'artillery_denied' ? stat.side, false) as denied,
      coalesce((state.conditions ->> 'night')::boolean, false) as night,
      stat.attributes -> 'weapon' as weapon,
      coalesce((stat.attributes ->> 'broken')::boolean, false) as broken,
      coalesce((stat.attributes ->> 'suppressed')::boolean, false) as suppressed
  ) as has
  cross join lateral (
    values
    (
      option = 'communication_established' and jsonb_typeof(has.radio) = 'object', 'O24',
      'there is a radio in the Artillery Box already'
    ),
    (
      option = 'communication_established' and has.denied, 'O24',
      'an artillery denied marker is in the Artillery Box'
    ),
    (option = 'communication_established' and has.night, '18.4', 'at night no radio can be gained'),
    (
      option = 'communication_restored' and not coalesce((has.radio ->> 'broken')::boolean, false), 'O24',
      'there is no broken radio in play'
    ),
    (
      option = 'weapon_repair' and not coalesce((has.weapon ->> 'broken')::boolean, false), 'O24.6',
      format('%s has no broken weapon', stat.code)
    ),
    (option = 'weapon_repair' and has.broken, 'O24.6', format('%s is broken', stat.code)),
    (option = 'weapon_repair' and has.suppressed, 'O24.6', format('%s is suppressed', stat.code)),
    (
      option = 'weapon_repair' and stat.kind <> 'hero' and stat.attributes ? 'activated', 'O20.2',
      format('%s was activated this turn already', stat.code)
    )
  ) as fact (holds, rule, note)
  where fact.holds
$$;

comment on function ccp._asset_steps(positions.state, text, ccp.stat) is
'What forbids an Asset Request for a radio or a repair (O24, O24.6, 18.4).';

create or replace function ccp.asset_request(
  position_id bigint, option text, unit text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
#variable_conflict use_column
declare
  state positions.state;
  stat ccp.stat;
begin
  perform ccp._on_map(asset_request.position_id, asset_request.unit);
  select * into state from positions.state(asset_request.position_id, asset_request.conditions, asset_request.policy);
  select found.* into stat from ccp._stats(state) as found where found.code = asset_request.unit;
  return query
  select turn.* from ccp._turn_steps(state, stat.side, 'asset_request') as turn where option = 'weapon_repair'
  union all
  select * from ccp._asset_steps(state, option, stat);
end
$$;

comment on function ccp.asset_request(bigint, text, text, jsonb, jsonb) is
'What forbids an Asset Request for a radio or a repair; no row where nothing does. The leader who asks is judged by
ccp.activation (O24).';

create or replace function ccp._fresh(state positions.state)
returns setof ccp.stat
language sql stable rows 10
as $$
  select stat.*
  from ccp._stats(state) as stat
  where stat.kind <> 'aircraft'
    and not stat.attributes ? 'activated'
$$;

comment on function ccp._fresh(positions.state) is
'Units on the map that were not activated yet this turn (O20.2).';

create or replace function ccp._charge_bars(state positions.state)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select * from ccp._turn_steps(state, 'japan', 'charge')
  union all
  select
    'O25', null, null, 'forbids', fact.note, null, null, null::integer, null::jsonb
  from (select state.conditions -> 'posture' ->> 'japan' as posture) as has
  cross join lateral (
    values
    (
      has.posture is distinct from 'banzai',
      format('the Japanese Posture is %s, not Banzai', coalesce(has.posture, 'not told'))
    ),
    (
      not exists (select from ccp._fresh(state) as stat where stat.side = 'japan'),
      'every Japanese unit on the map was activated this turn'
    )
  ) as fact (holds, note)
  where fact.holds
$$;

comment on function ccp._charge_bars(positions.state) is
'What forbids a Charge (O25).';

create or replace function ccp.charge(position_id bigint, conditions jsonb default null, policy jsonb default null)
returns setof rulings.ledger_step
language sql stable rows 3
as $$
  select bar.*
  from positions.state(charge.position_id, charge.conditions, charge.policy) as state
  cross join lateral ccp._charge_bars(state) as bar
  union all
  select
    'O25.1',
    null,
    null,
    'charge',
    'all Japanese units that were not activated yet',
    null,
    null,
    null,
    jsonb_build_object(
      'units', coalesce(
        jsonb_agg(
          jsonb_build_object(
            'unit', stat.code,
            'suppressed', coalesce((stat.attributes ->> 'suppressed')::boolean, false),
            'broken', coalesce((stat.attributes ->> 'broken')::boolean, false)
          )
          order by stat.code
        ) filter (where stat.side = 'japan'), '[]'
      ),
      'allied', coalesce(
        jsonb_agg(stat.code order by stat.code) filter (where stat.side = 'allied' and not stat.melee), '[]'
      )
    )
  from positions.state(charge.position_id, charge.conditions, charge.policy) as state
  cross join lateral ccp._fresh(state) as stat
$$;

comment on function ccp.charge(bigint, jsonb, jsonb) is
'Who charges, what forbids a Charge, and which Allied units could be activated to answer it (O25).';

create or replace function ccp._infiltration_bars(state positions.state, box text, facts jsonb)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select * from ccp._turn_steps(state, 'japan', 'infiltrate')
  union all
  select
    fact.rule, null, null, 'forbids', fact.note, fact.point, null, null::integer, null::jsonb
  from (
    values
    (
      facts ->> 'does' = 'reveal' and facts -> 'sighted' = '[]', 'O28',
      format('box %s is occupied, and no Sighting marker is on the map', box), null
    ),
    (
      facts ->> 'does' = 'reveal' and facts -> 'sighted' <> '[]' and facts -> 'hexes' = '[]', 'O28.2',
      'every Sighting marker lies in a blaze', 'ccp-25'
    )
  ) as fact (holds, rule, note, point)
  where fact.holds
$$;

comment on function ccp._infiltration_bars(positions.state, text, jsonb) is
'What forbids an Infiltrate order (O28).';

create or replace function ccp.infiltration(
  position_id bigint, box text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  with told as materialized (
    select
      state,
      jsonb_build_object(
        'does', case when piece.codes = '[]' then 'hide' else 'reveal' end,
        'units', piece.codes,
        'sighted', sight.every,
        'blazing', sight.blazing,
        'hexes', case when (state).readings ->> 'ccp-25' = 'a' then sight.calm else sight.every end
      ) as facts
    from positions.state(infiltration.position_id, infiltration.conditions, infiltration.policy) as state
    cross join lateral (
      select coalesce(jsonb_agg(unit.code order by unit.code), '[]') as codes
      from public.unit
      where unit.position_id = (state).position_id
        and unit.attributes ->> 'box' = infiltration.box
    ) as piece
    cross join lateral (
      select
        coalesce(jsonb_agg(distinct plot.label), '[]') as every,
        coalesce(jsonb_agg(distinct plot.label) filter (where plot.blaze), '[]') as blazing,
        coalesce(jsonb_agg(distinct plot.label) filter (where not plot.blaze), '[]') as calm
      from public.marker
      inner join ccp._plots(state) as plot on plot.q = marker.q and plot.r = marker.r
      where marker.position_id = (state).position_id
        and marker.kind = 'sighting'
    ) as sight
  )
  select bar.*
  from told
  cross join lateral ccp._infiltration_bars(told.state, infiltration.box, told.facts) as bar
  union all
  select
    case told.facts ->> 'does' when 'reveal' then 'O28.2' else 'O28.1' end,
    null,
    null,
    told.facts ->> 'does',
    case told.facts ->> 'does'
      when 'reveal' then format('box %s is occupied', infiltration.box)
      else format('box %s is empty', infiltration.box)
    end,
    null,
    null,
    null,
    told.facts
  from told
$$;

comment on function ccp.infiltration(bigint, text, jsonb, jsonb) is
'Whether an Infiltrate order hides or reveals, what is in the box and where it may appear (O28, ccp-25).';

create or replace function ccp.revival(
  position_id bigint, side text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language sql stable rows 3
as $$
  with job as materialized (
    select
      stat.code,
      work.word
    from positions.state(revival.position_id, revival.conditions, revival.policy) as state
    cross join lateral ccp._stats(state) as stat
    cross join lateral (
      values
      ('suppressed', coalesce((stat.attributes ->> 'suppressed')::boolean, false)),
      ('rally', coalesce((stat.attributes ->> 'broken')::boolean, false))
    ) as work (word, holds)
    where stat.side = revival.side
      and stat.kind <> 'aircraft'
      and work.holds
  )
  select turn.*
  from positions.state(revival.position_id, revival.conditions, revival.policy) as state
  cross join lateral ccp._turn_steps(state, revival.side, 'revive') as turn
  union all
  select
    'O31', null, null, 'forbids', 'no unit of the side on the map is broken or suppressed', null, null, null::integer,
    null::jsonb
  where not exists (select from job)
  union all
  select
    'O31',
    null,
    null,
    'revives',
    'what points may be spent on',
    null,
    null,
    null,
    jsonb_build_object(
      'jobs', coalesce(jsonb_agg(jsonb_build_object('unit', job.code, 'do', job.word) order by job.code, job.word), '[]')
    )
  from job
$$;

comment on function ccp.revival(bigint, text, jsonb, jsonb) is
'What Revive Points may be spent on, and what forbids the order (O31).';
