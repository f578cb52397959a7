-- needs: lattice/cells.sql, positions/place.sql, ddp/command.sql, ddp/communication.sql, ddp/fields.sql, ddp/spots.sql, rulings/step.sql
-- The HQ Phase in ddp (D-Day at Peleliu): command posts (14.1, 14.11, 14.2, 14.32) and garrisons (14.4, 18.2).

create or replace function ddp._fired_on(state positions.state, purpose text, q integer, r integer)
returns table (place text, label text, note text, point text)
language sql stable rows 2
as $$
  select
    field.place,
    field.label,
    field.note,
    point.point
  from ddp._fields(state, purpose) as field
  left join lateral unnest(field.points) as point (point) on true
  where field.active
    and exists (
      select from ddp._dots_of(state, field, purpose) as dot where dot.q = _fired_on.q and dot.r = _fired_on.r
    )
  order by field.place, point.point
$$;

comment on function ddp._fired_on(positions.state, text, integer, integer) is
'The positions whose field of fire counts for a purpose and covers a hex.';

create or replace function ddp._spared(state positions.state, purpose text, q integer, r integer)
returns table (place text, label text, note text, point text)
language sql stable rows 2
as $$
  select
    field.place,
    field.label,
    field.note,
    point.point
  from ddp._fields(state, purpose) as field
  cross join lateral unnest(field.points) as point (point)
  where not field.active
    and exists (
      select
      from public.map_feature_hex as dot
      where dot.feature = field.feature and dot.role in ('intense', 'steady') and dot.q = _spared.q and dot.r = _spared.r
    )
  order by field.place, point.point
$$;

comment on function ddp._spared(positions.state, text, integer, integer) is
'The positions whose dots lie in a hex and do not count for a purpose as a contested point is read.';

create or replace function ddp.command_post(
  position_id bigint, unit text, act text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 5
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  post positions.counter := positions._asked_counter(command_post.position_id, command_post.unit);
  bars rulings.ledger_step[];
  purpose text := case command_post.act when 'establish' then 'command_post' else 'growth' end;
begin
  select * into state from positions.state(command_post.position_id, command_post.conditions, command_post.policy);
  bars := array(
    select row(bar.rule, null, post.label, 'forbids', format(bar.note, post.code), null, post.code, null, null)::rulings.ledger_step
    from (
      values
      (1, ddp._ridge(state.conditions), '18.32', 'command posts are not used on Bloody Nose Ridge'),
      (2, post.q is null, '14.1', '%s is not on the map'),
      (
        3,
        command_post.act = 'establish' and post.kind is distinct from 'regimental_hq',
        '14.1',
        '%s is no regimental HQ'
      ),
      (
        4,
        command_post.act <> 'establish' and post.kind is distinct from 'command_post',
        case command_post.act when 'abandon' then '14.11' else '14.2' end,
        '%s is no command post'
      ),
      (5, (state.conditions ->> 'turn')::integer < 8, '14.0', 'command posts are set up from turn 8 on'),
      (6, ddp._overnight(state.conditions), '16.0', 'there is no HQ Phase on turn 13'),
      (
        7,
        state.conditions ? 'phase' and state.conditions ->> 'phase' <> 'hq',
        '14.1',
        'it is done in the HQ Phase'
      ),
      (
        8,
        command_post.act = 'advance' and ddp._flag(post.attributes, 'acted'),
        '14.2',
        'the range of %s grows one box a turn, and not on the turn in which it was set up'
      )
    ) as bar (n, holds, rule, note)
    where bar.holds
    order by bar.n
  ) || array(
    select row(
      case purpose when 'growth' then '14.2' else '14.1' end, null, fire.label, 'forbids',
      format('%s lies in the field of fire of %s: %s', post.code, fire.place, fire.note), fire.point, post.code, null, null
    )::rulings.ledger_step
    from ddp._fired_on(state, purpose, post.q, post.r) as fire
    where command_post.act in ('establish', 'advance')
  );
  return query select * from unnest(bars);
  return query
  select
    '14.2', null::text, fire.label, 'passes', format('the dots of %s do not count: %s', fire.place, fire.note),
    fire.point, null::text, null::integer, null::jsonb
  from ddp._spared(state, purpose, post.q, post.r) as fire
  where command_post.act in ('establish', 'advance');
  return query
  select
    coalesce((select bar.rule from unnest(bars) as bar limit 1), case command_post.act when 'abandon' then '14.11' when 'advance' then '14.2' else '14.1' end),
    null::text,
    post.label,
    case when cardinality(bars) > 0 then 'refused' else command_post.act end,
    coalesce(
      (select string_agg(distinct bar.note, '; ') from unnest(bars) as bar),
      case command_post.act
        when 'establish' then format('%s becomes a command post', post.code)
        when 'advance' then format('the range marker of %s advances one box', post.code)
        else format('%s becomes a regimental HQ again', post.code)
      end
    ),
    null::text,
    post.code,
    null::integer,
    jsonb_build_object(
      'allowed', cardinality(bars) = 0,
      'box', coalesce((post.attributes ->> 'range_box')::integer, 1)
    );
end
$$;

comment on function ddp.command_post(bigint, text, text, jsonb, jsonb) is
'Whether a command post may be set up, grow or be given up (14.1, 14.11, 14.2): the verdict last.';

create or replace function ddp._garrison_bars(state positions.state, spot ddp.spot)
returns setof rulings.ledger_step
language sql stable rows 3
as $$
  select
    bar.rule,
    null,
    spot.label,
    'forbids',
    format(bar.note, spot.label),
    bar.point,
    null,
    null::integer,
    null::jsonb
  from (
    select 1 as n, '14.4' as rule, '%s is out of range of every command post' as note, null as point
    where not ddp._ridge(state.conditions)
      and not exists (
        select
        from ddp._us_units(state) as post
        where post.kind = 'command_post'
          -- 4.0: garrisons come before posts that are set up or grow this turn
          and not ddp._flag(post.attributes, 'acted')
          and not exists (
            select from ddp._field_dots(state, 'silence') as dot where dot.q = post.q and dot.r = post.r
          )
          and (
            (post.q = spot.q and post.r = spot.r)
            or ddp._command_path(
              state.position_id, post.q, post.r, spot.q, spot.r,
              case
                when ddp._flag(post.attributes, 'under_fire') then 1
                else coalesce((post.attributes ->> 'command_range')::integer, 1)
              end
            ) is not null
          )
      )
    union all
    select 2, '14.4', 'no US unit is in %s or next to it', null
    where not exists (
      select
      from ddp._us_units(state) as unit
      where unit.kind is distinct from 'garrison' and lattice.distance(unit.q, unit.r, spot.q, spot.r) <= 1
    )
    union all
    select 3, '14.4', '%s is out of US communication', null
    where not ddp._us_communication(state, spot.q, spot.r)
    union all
    select 4, '14.4', '%s lies in the field of fire of ' || fire.place, fire.point
    from ddp._fired_on(state, 'garrison', spot.q, spot.r) as fire
    union all
    select 5, '14.4', 'a garrison is in %s already', null
    where exists (
      select from ddp._us_units(state) as unit where unit.kind = 'garrison' and unit.q = spot.q and unit.r = spot.r
    )
    union all
    select 6, '14.4', 'Japanese units are in %s', null
    where exists (select from ddp._occupants(state) as held where held.q = spot.q and held.r = spot.r)
    union all
    select 7, '16.0', 'there is no HQ Phase on turn 13', null
    where ddp._overnight(state.conditions)
    union all
    select 8, '14.0', 'garrisons are placed from turn 8 on', null
    where not ddp._ridge(state.conditions) and (state.conditions ->> 'turn')::integer < 8
    union all
    select 10, '18.2', 'one garrison is placed in an HQ Phase of Bloody Nose Ridge', null
    where ddp._ridge(state.conditions)
      and state.conditions ->> 'phase' = 'hq'
      and (state.conditions ->> 'drawn')::integer >= 1
    union all
    select 9, '14.4', 'garrisons are placed in the HQ Phase', null
    where state.conditions ? 'phase' and state.conditions ->> 'phase' <> 'hq'
  ) as bar
  order by bar.n, bar.note
$$;

comment on function ddp._garrison_bars(positions.state, ddp.spot) is
'Why no garrison may be placed in a position hex (14.4, 18.2).';

create or replace function ddp.garrison(
  position_id bigint, at text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  spot ddp.spot;
  here text;
  bars rulings.ledger_step[];
begin
  select * into state from positions.state(garrison.position_id, garrison.conditions, garrison.policy);
  select one.* into spot
  from ddp._spots(state.map_id) as one
  left join positions.place(garrison.position_id, garrison.at) as place on one.q = place.q and one.r = place.r
  where not one.provisional
    and (place.q is not null or one.id = positions.spoken(garrison.at) or one.place = positions.spoken(garrison.at))
  order by place.q is null, one.label
  limit 1;
  select hex.label into here
  from positions.place(garrison.position_id, garrison.at) as place
  inner join public.hex on hex.map_id = state.map_id and place.q = hex.q and place.r = hex.r;
  bars := case
    when spot.label is null
      then array[row('14.4', null, here, 'forbids', format('%s is no position hex', coalesce(here, garrison.at)), null, null, null, null)::rulings.ledger_step]
    else array(select bar from ddp._garrison_bars(state, spot) as bar)
  end;
  return query select * from unnest(bars);
  return query
  select
    coalesce((select bar.rule from unnest(bars) as bar limit 1), '14.4'),
    null::text,
    coalesce(spot.label, here),
    case when cardinality(bars) > 0 then 'refused' else 'garrison' end,
    coalesce((select string_agg(distinct bar.note, '; ') from unnest(bars) as bar), format('a garrison in %s', spot.label)),
    null::text,
    null::text,
    null::integer,
    jsonb_build_object('allowed', cardinality(bars) = 0, 'at', coalesce(spot.label, here));
end
$$;

comment on function ddp.garrison(bigint, text, jsonb, jsonb) is
'Whether a garrison may be placed in a hex, and what bars it (14.4): the verdict last.';
