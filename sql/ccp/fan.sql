-- needs: ccp/los.sql, rulings/fan_reasons.sql
-- All that a hex sees in ccp: the judgement of ccp.los, for every hex near enough at once.

create or replace function ccp._fan_steps(
  position_id bigint, "from" text, radius integer, conditions jsonb, policy jsonb
)
returns table (
  q integer, r integer, label text, rule text, at text, effect text, note text, point text, range integer
)
language plpgsql stable rows 500
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  viewer record;
  near record;
begin
  select * into viewer from positions.place(_fan_steps.position_id, _fan_steps."from");
  if viewer.q is null then
    raise exception 'no hex or unit % on the map of this position', _fan_steps."from" using errcode = 'no_data_found';
  end if;
  select * into state from positions.state(_fan_steps.position_id, _fan_steps.conditions, _fan_steps.policy);
  select
    array_agg(hex.q order by hex.q, hex.r) as qs,
    array_agg(hex.r order by hex.q, hex.r) as rs,
    array_agg(hex.label order by hex.q, hex.r) as labels
  into near
  from public.hex
  cross join lateral (select lattice.distance(viewer.q, viewer.r, hex.q, hex.r) as away) as place
  where hex.map_id = state.map_id
    and place.away > 0
    -- sight itself has no end
    and place.away <= coalesce(_fan_steps.radius, place.away);
  return query
  select
    near.qs[step.i],
    near.rs[step.i],
    near.labels[step.i],
    step.rule,
    step.at,
    step.effect,
    step.note,
    step.point,
    step.range
  from ccp._line_steps(
    row(state, viewer.q, viewer.r, viewer.unit, near.qs, near.rs, null)::ccp.sighting
  ) as step;
end
$$;

comment on function ccp._fan_steps(bigint, text, integer, jsonb, jsonb) is
'Every rule that speaks on the lines from a hex or unit to all hexes within a range, or on the whole map.';

create or replace function ccp.fan(
  position_id bigint,
  "from" text,
  radius integer default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (q integer, r integer, label text, range integer)
language sql stable rows 100
as $$
  select
    step.q,
    step.r,
    step.label,
    step.range
  from ccp._fan_steps(fan.position_id, fan."from", fan.radius, fan.conditions, fan.policy) as step
  where step.effect = 'visible'
  order by step.q, step.r
$$;

comment on function ccp.fan(bigint, text, integer, jsonb, jsonb) is
'Every hex that a hex or unit sees, with its range; the verdicts are those of ccp.los.';

create or replace function ccp.fan_reasons(
  position_id bigint,
  "from" text,
  radius integer default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.step
language sql stable rows 50
as $$
  select reason.*
  from (
    select
      array_agg(
        row(
          step.rule, null, step.at, step.effect, step.note, step.point, step.range, null
        )::rulings.sight_step
      ) as lines
    from ccp._fan_steps(
      fan_reasons.position_id, fan_reasons."from", fan_reasons.radius, fan_reasons.conditions, fan_reasons.policy
    ) as step
    where rulings._bears_on_fan(step.effect, step.point)
  ) as fan
  cross join lateral rulings._fan_reasons(fan.lines) as reason
$$;

comment on function ccp.fan_reasons(bigint, text, integer, jsonb, jsonb) is
'What hides hexes from a viewer, and what was assumed: every rule with its place and how many lines it bears on.';
