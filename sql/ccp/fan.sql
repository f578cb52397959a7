-- needs: ccp/around.sql, rulings/fan_reasons.sql
-- All that a hex sees in ccp, and why no more: the judgement of ccp.los, for every hex near enough at once.

create or replace function ccp._looking(position_id bigint, "from" text, conditions jsonb, policy jsonb)
returns ccp.sighting
language plpgsql stable
as $$
declare
  looking ccp.sighting;
begin
  select place.q, place.r, place.unit
  into looking.q, looking.r, looking.unit
  from positions.place(_looking.position_id, _looking."from") as place;
  if looking.q is null then
    raise exception 'no hex or unit % on the map of this position', _looking."from" using errcode = 'no_data_found';
  end if;
  looking.state := (select state from positions.state(_looking.position_id, _looking.conditions, _looking.policy) as state);
  return looking;
end
$$;

comment on function ccp._looking(bigint, text, jsonb, jsonb) is
'A sighting from a hex or unit, as yet of no lines; an error where the name is none on the map.';

create or replace function ccp._near(looking ccp.sighting, radius integer)
returns ccp.sighting
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
declare
  -- sight itself has no end
  reach integer := coalesce(radius, 1000000);
  viewer_q integer := looking.q;
  viewer_r integer := looking.r;
begin
  select array_agg(hex.q), array_agg(hex.r)
  into looking.qs, looking.rs
  from (
    select hex.q, hex.r
    from public.drawn_hex as hex
    where hex.map_id = (looking.state).map_id
      and hex.q between viewer_q - reach and viewer_q + reach
      and hex.r between viewer_r - reach and viewer_r + reach
      and lattice.distance(viewer_q, viewer_r, hex.q, hex.r) between 1 and reach
    order by hex.q, hex.r
  ) as hex;
  return looking;
end
$$;

comment on function ccp._near(ccp.sighting, integer) is
'The lines from who looks to all hexes within a range, or on the whole map.';

create or replace function ccp._fan_steps(
  position_id bigint, "from" text, radius integer, conditions jsonb, policy jsonb
)
returns table (rule text, at text, effect text, point text, range integer)
language plpgsql stable rows 500
set plan_cache_mode = force_generic_plan
set enable_nestloop = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  near ccp.sighting := ccp._near(
    ccp._looking(_fan_steps.position_id, _fan_steps."from", _fan_steps.conditions, _fan_steps.policy), _fan_steps.radius
  );
begin
  return query
  select step.rule, step.at, step.effect, step.point, step.range
  from ccp._line_steps(near) as step
  where rulings._bears_on_fan(step.effect, step.point);
end
$$;

comment on function ccp._fan_steps(bigint, text, integer, jsonb, jsonb) is
'Every rule that bears on what is seen, on the lines from a hex or unit to all hexes within a range, or on the whole map.';

create or replace function ccp.fan(
  position_id bigint,
  "from" text,
  radius integer default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (q integer, r integer, label text, range integer)
language plpgsql stable rows 100
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  near ccp.sighting := ccp._looking(fan.position_id, fan."from", fan.conditions, fan.policy);
  viewer ccp.line_end;
  board bigint := (near.state).map_id;
  eye_q integer := near.q;
  eye_r integer := near.r;
  seen bit(289);
begin
  select * into viewer from ccp._line_end(near.state, near.q, near.r, near.unit);
  if fan.radius <= 8 and ccp._sees_plainly(near.state, viewer) then
    seen := ccp._seen_around(near, ccp._eye(ccp._outlook(near.state), viewer), fan.radius);
    return query
    select hex.q, hex.r, hex.label, lattice.distance(eye_q, eye_r, hex.q, hex.r)
    from public.drawn_hex as hex
    where hex.map_id = board
      and hex.q between eye_q - fan.radius and eye_q + fan.radius
      and hex.r between eye_r - fan.radius and eye_r + fan.radius
      and get_bit(seen, lattice.hex_bit(hex.q - eye_q, hex.r - eye_r)) = 1
    order by hex.q, hex.r;
    return;
  end if;
  near := ccp._near(near, fan.radius);
  return query
  select
    hex.q,
    hex.r,
    hex.label,
    lattice.distance(near.q, near.r, hex.q, hex.r)
  from unnest(ccp._seen(near)) as line (i)
  inner join public.drawn_hex as hex
    on hex.map_id = board and hex.q = near.qs[line.i] and hex.r = near.rs[line.i]
  order by hex.q, hex.r;
end
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
          step.rule, null, step.at, step.effect, null, step.point, step.range, null
        )::rulings.sight_step
      ) as lines
    from ccp._fan_steps(
      fan_reasons.position_id, fan_reasons."from", fan_reasons.radius, fan_reasons.conditions, fan_reasons.policy
    ) as step
  ) as fan
  cross join lateral rulings._fan_reasons(fan.lines) as reason
$$;

comment on function ccp.fan_reasons(bigint, text, integer, jsonb, jsonb) is
'What hides hexes from a viewer, and what was assumed: every rule with its place and how many lines it bears on.';
